package io.tutti.service.config;

import io.tutti.BackendUnavailableException;
import io.tutti.BadConfigurationException;
import io.tutti.launch.ResolutionException;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Explains configuration that Tutti itself rejects, a backend that is not available on
 * this host, and a rank that cannot be resolved.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class StartupFailureAnalyzer implements FailureAnalyzer {

	@Override
	public @Nullable FailureAnalysis analyze(Throwable failure) {
		return ServerFailureAnalyzer.first(failure, StartupFailureAnalyzer::explain);
	}

	private static @Nullable FailureAnalysis explain(Throwable cause) {
		return switch (cause) {
			case BadConfigurationException ex -> new FailureAnalysis(ex.problem(), ex.action(), ex);
			case BackendUnavailableException ex ->
				new FailureAnalysis(ex.subject() + ": " + ex.problem(), ex.action(), ex);
			case ResolutionException ex -> new FailureAnalysis(ex.getMessage(),
					"Correct " + ex.variable() + "; `tutti env` explains the resolution of a rank", ex);
			default -> null;
		};
	}

}
