package io.tutti.service.config;

import org.springframework.boot.context.event.ApplicationEnvironmentPreparedEvent;
import org.springframework.boot.context.logging.LoggingApplicationListener;
import org.springframework.context.ApplicationListener;
import org.springframework.core.Ordered;

/**
 * Stops a rank's start at a property that does not exist.
 */
public final class PropertyCheck implements ApplicationListener<ApplicationEnvironmentPreparedEvent>, Ordered {

	@Override
	public void onApplicationEvent(ApplicationEnvironmentPreparedEvent event) {
		KnownProperties.ofTutti().require(event.getEnvironment());
	}

	/**
	 * Once logging is set up, so that the framework's own report of the failure is off.
	 */
	@Override
	public int getOrder() {
		return LoggingApplicationListener.DEFAULT_ORDER + 1;
	}

}
