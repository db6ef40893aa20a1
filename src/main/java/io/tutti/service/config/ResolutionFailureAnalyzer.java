package io.tutti.service.config;

import io.tutti.launch.ResolutionException;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Explains a rank that cannot be resolved.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class ResolutionFailureAnalyzer extends AbstractFailureAnalyzer<ResolutionException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, ResolutionException cause) {
		return new FailureAnalysis(cause.getMessage(),
				"Correct " + cause.variable() + "; `tutti env` explains the resolution of a rank", cause);
	}

}
