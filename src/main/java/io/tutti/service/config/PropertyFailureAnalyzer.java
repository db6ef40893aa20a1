package io.tutti.service.config;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.convert.ConversionException;

/**
 * Explains a property whose value can be read but is out of range: the record that holds
 * it says so.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class PropertyFailureAnalyzer extends AbstractFailureAnalyzer<BindException> {

	@Override
	protected @Nullable FailureAnalysis analyze(Throwable rootFailure, BindException cause) {
		Throwable refusal = root(cause);
		if (!(refusal instanceof IllegalArgumentException) || findCause(cause, ConversionException.class) != null) {
			return null;
		}
		return new FailureAnalysis(cause.getName() + ": " + refusal.getMessage(),
				"Correct it in application.yml, on the command line or in the environment", cause);
	}

	private static Throwable root(Throwable failure) {
		Throwable root = failure;
		while (root.getCause() != null) {
			root = root.getCause();
		}
		return root;
	}

}
