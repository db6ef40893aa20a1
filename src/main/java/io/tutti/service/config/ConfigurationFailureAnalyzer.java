package io.tutti.service.config;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Explains configuration that Tutti itself rejects.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class ConfigurationFailureAnalyzer extends AbstractFailureAnalyzer<ConfigurationException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, ConfigurationException cause) {
		return new FailureAnalysis(cause.problem(), cause.action(), cause);
	}

}
