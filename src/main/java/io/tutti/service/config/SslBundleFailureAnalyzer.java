package io.tutti.service.config;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.ssl.NoSuchSslBundleException;

/**
 * Explains an SSL bundle that something asks for, such as HTTP, and nobody describes.
 */
final class SslBundleFailureAnalyzer extends AbstractFailureAnalyzer<NoSuchSslBundleException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, NoSuchSslBundleException cause) {
		return new FailureAnalysis("there is no SSL bundle " + cause.getBundleName(), action(cause.getBundleName()),
				cause);
	}

	/** What to do about a bundle that nobody describes. */
	static String action(String name) {
		return "Describe it under spring.ssl.bundle.pem." + name + " or spring.ssl.bundle.jks." + name;
	}

}
