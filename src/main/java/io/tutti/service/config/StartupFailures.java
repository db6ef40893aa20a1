package io.tutti.service.config;

import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.core.io.support.SpringFactoriesLoader.FailureHandler;

/**
 * Turns what stopped an application from starting into one problem and one action.
 */
public final class StartupFailures {

	private StartupFailures() {
	}

	/**
	 * What to tell the operator: a {@link ConfigurationException} if an analyzer knows
	 * the failure, the failure itself otherwise.
	 */
	public static RuntimeException explain(RuntimeException failure) {
		for (FailureAnalyzer analyzer : analyzers()) {
			FailureAnalysis analysis = analyzer.analyze(failure);
			if (analysis != null) {
				return new ConfigurationException(sentence(analysis.getDescription()),
						(analysis.getAction() != null) ? sentence(analysis.getAction()) : "Correct the configuration",
						failure);
			}
		}
		return failure;
	}

	/** Ours first, since they know what an option is called. */
	private static Iterable<FailureAnalyzer> analyzers() {
		return SpringFactoriesLoader.forDefaultResourceLocation()
			.load(FailureAnalyzer.class, FailureHandler.handleMessage((message, cause) -> {
				// Some of Spring's analyzers want a bean factory; there is none any more.
			}));
	}

	private static String sentence(String text) {
		String line = text.strip().replaceAll("\\s+", " ");
		return line.endsWith(".") ? line.substring(0, line.length() - 1) : line;
	}

}
