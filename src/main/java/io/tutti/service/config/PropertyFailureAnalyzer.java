package io.tutti.service.config;

import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.bind.BindException;
import org.springframework.boot.context.properties.source.ConfigurationProperty;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.core.convert.ConversionException;

/**
 * Explains a property that does not exist, or whose value has the wrong type or is out of
 * range. By default it explains only Tutti's own properties.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class PropertyFailureAnalyzer extends AbstractFailureAnalyzer<BindException> {

	private static final String ACTION = "Correct it in application.yml, on the command line or in the environment";

	private static final ConfigurationPropertyName TUTTI = ConfigurationPropertyName.of("tutti");

	private final ConfigurationPropertyName explained;

	PropertyFailureAnalyzer() {
		this(TUTTI);
	}

	private PropertyFailureAnalyzer(ConfigurationPropertyName explained) {
		this.explained = explained;
	}

	/** An analyzer for Tutti's own application, which explains every property. */
	static PropertyFailureAnalyzer ofEveryProperty() {
		return new PropertyFailureAnalyzer(ConfigurationPropertyName.EMPTY);
	}

	@Override
	protected @Nullable FailureAnalysis analyze(Throwable rootFailure, BindException cause) {
		if (!this.explained.equals(cause.getName()) && !this.explained.isAncestorOf(cause.getName())) {
			return null;
		}
		String problem = problem(cause);
		return (problem != null) ? new FailureAnalysis(problem, ACTION, cause) : null;
	}

	private @Nullable String problem(BindException failure) {
		ConfigurationProperty property = failure.getProperty();
		if (property != null && findCause(failure, ConversionException.class) != null) {
			return failure.getName() + "=" + property.getValue() + " is not "
					+ kind(failure.getTarget().getType().resolve(Object.class));
		}
		Throwable refusal = NestedExceptionUtils.getMostSpecificCause(failure);
		return (refusal instanceof IllegalArgumentException) ? failure.getName() + ": " + refusal.getMessage() : null;
	}

	/** The expected value; those of an enum as a configuration file spells them. */
	private static String kind(Class<?> type) {
		if (type.isEnum()) {
			return Stream.of(type.getEnumConstants())
				.map((value) -> ((Enum<?>) value).name().toLowerCase(Locale.ROOT).replace('_', '-'))
				.collect(Collectors.joining(", ", "one of ", ""));
		}
		return switch (type.getSimpleName()) {
			case "int", "Integer", "long", "Long" -> "a whole number";
			case "boolean", "Boolean" -> "true or false";
			case "Duration" -> "a time such as 10s";
			case "DataSize" -> "a size such as 64MB";
			case "InetAddress" -> "an address or the name of a host";
			default -> "a " + type.getSimpleName();
		};
	}

}
