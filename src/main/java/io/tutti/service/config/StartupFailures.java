package io.tutti.service.config;

import java.util.ArrayList;
import java.util.List;

import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.core.io.support.SpringFactoriesLoader.FailureHandler;

/**
 * Turns what stopped Tutti's own application from starting into one problem and one
 * action. Whatever stopped it was Tutti's to set up, so here its analyzers explain the
 * web server, the SSL bundles and {@code application.yml} as well; in an application of
 * somebody else those are not its affair.
 */
public final class StartupFailures {

	/** Before Spring's, since they know what an option is called. */
	private static final List<FailureAnalyzer> OWN = List.of(new ConfigurationFailureAnalyzer(),
			new BackendFailureAnalyzer(), new ResolutionFailureAnalyzer(), new PortFailureAnalyzer(),
			new HttpFailureAnalyzer(), new SslBundleFailureAnalyzer(), PropertyFailureAnalyzer.ofEveryProperty(),
			new SslRegistryFailureAnalyzer(), new YamlFailureAnalyzer());

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

	private static List<FailureAnalyzer> analyzers() {
		List<FailureAnalyzer> analyzers = new ArrayList<>(OWN);
		analyzers.addAll(SpringFactoriesLoader.forDefaultResourceLocation()
			.load(FailureAnalyzer.class, FailureHandler.handleMessage((message, cause) -> {
				// Some of Spring's analyzers want a bean factory; there is none any more.
			})));
		return analyzers;
	}

	private static String sentence(String text) {
		String line = text.strip().replaceAll("\\s+", " ");
		return line.endsWith(".") ? line.substring(0, line.length() - 1) : line;
	}

}
