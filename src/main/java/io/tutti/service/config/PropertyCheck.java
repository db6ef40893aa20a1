package io.tutti.service.config;

import org.springframework.boot.context.event.ApplicationEnvironmentPreparedEvent;
import org.springframework.boot.context.logging.LoggingApplicationListener;
import org.springframework.context.ApplicationListener;
import org.springframework.core.Ordered;

/**
 * Fails a rank's start-up if a property does not exist.
 */
public final class PropertyCheck implements ApplicationListener<ApplicationEnvironmentPreparedEvent>, Ordered {

	@Override
	public void onApplicationEvent(ApplicationEnvironmentPreparedEvent event) {
		KnownProperties.ofTutti().require(event.getEnvironment());
	}

	/**
	 * Runs after logging is set up, when the framework's own report of the failure is
	 * off.
	 */
	@Override
	public int getOrder() {
		return LoggingApplicationListener.DEFAULT_ORDER + 1;
	}

}
