package io.tutti.service.config;

import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.BeanCreationException;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;

/**
 * Explains SSL bundles that cannot be read when they are registered, such as watched
 * bundles with missing files.
 */
final class SslRegistryFailureAnalyzer implements FailureAnalyzer {

	/** Spring's bean name for the registry of bundles. */
	private static final String REGISTRY = "sslBundleRegistry";

	@Override
	public @Nullable FailureAnalysis analyze(Throwable failure) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			if (cause instanceof BeanCreationException bean && REGISTRY.equals(bean.getBeanName())) {
				return new FailureAnalysis(
						"an SSL bundle under spring.ssl.bundle cannot be used: " + RankTls.innermost(bean),
						"Check its files, passwords and names", bean);
			}
		}
		return null;
	}

}
