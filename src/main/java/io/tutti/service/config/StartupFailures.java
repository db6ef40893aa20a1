package io.tutti.service.config;

import java.util.ArrayList;
import java.util.List;

import io.tutti.BadConfigurationException;

import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.core.io.support.SpringFactoriesLoader.FailureHandler;

/**
 * Converts a start-up failure of Tutti's own application into one problem and one action.
 * Here the analyzers also explain failures of the web server, the SSL bundles and
 * {@code application.yml}. In a host application they leave those failures to Spring.
 */
public final class StartupFailures {

	/** Run before Spring's analyzers, since they know the names of Tutti's options. */
	private static final List<FailureAnalyzer> OWN = List.of(new StartupFailureAnalyzer(),
			PropertyFailureAnalyzer.ofEveryProperty(), new ServerFailureAnalyzer());

	private StartupFailures() {
	}

	/**
	 * Returns the failure to report: a {@link BadConfigurationException} if an analyzer
	 * recognizes it, the failure itself otherwise.
	 */
	public static RuntimeException explain(RuntimeException failure) {
		for (FailureAnalyzer analyzer : analyzers()) {
			FailureAnalysis analysis = analyzer.analyze(failure);
			if (analysis != null) {
				return new BadConfigurationException(sentence(analysis.getDescription()),
						(analysis.getAction() != null) ? sentence(analysis.getAction()) : "Correct the configuration",
						failure);
			}
		}
		return failure;
	}

	private static List<FailureAnalyzer> analyzers() {
		List<FailureAnalyzer> analyzers = new ArrayList<>(OWN);
		analyzers.addAll(SpringFactoriesLoader.forDefaultResourceLocation()
			.load(FailureAnalyzer.class, FailureHandler.handleMessage((message, cause) -> {
				// Some of Spring's analyzers need a bean factory, which no longer exists.
			})));
		return analyzers;
	}

	private static String sentence(String text) {
		String line = text.strip().replaceAll("\\s+", " ");
		return line.endsWith(".") ? line.substring(0, line.length() - 1) : line;
	}

}
