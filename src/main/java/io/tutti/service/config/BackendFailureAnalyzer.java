package io.tutti.service.config;

import io.tutti.BackendUnavailableException;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Explains a backend that is not available on this host.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class BackendFailureAnalyzer extends AbstractFailureAnalyzer<BackendUnavailableException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, BackendUnavailableException cause) {
		return new FailureAnalysis(cause.subject() + ": " + cause.problem(), cause.action(), cause);
	}

}
