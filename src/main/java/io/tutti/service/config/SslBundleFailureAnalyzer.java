package io.tutti.service.config;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.ssl.NoSuchSslBundleException;

/**
 * Explains a reference to an SSL bundle that is not configured.
 */
final class SslBundleFailureAnalyzer extends AbstractFailureAnalyzer<NoSuchSslBundleException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, NoSuchSslBundleException cause) {
		return new FailureAnalysis("unknown SSL bundle " + cause.getBundleName(), action(cause.getBundleName()), cause);
	}

	/** The action to take for a bundle that is not configured. */
	static String action(String name) {
		return "Describe it under spring.ssl.bundle.pem." + name + " or spring.ssl.bundle.jks." + name;
	}

}
