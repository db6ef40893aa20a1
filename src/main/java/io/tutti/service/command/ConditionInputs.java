package io.tutti.service.command;

import java.util.Arrays;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

import org.springframework.boot.autoconfigure.condition.ConditionEvaluationReport;
import org.springframework.boot.autoconfigure.condition.ConditionEvaluationReport.ConditionAndOutcome;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.EnumerablePropertySource;
import org.springframework.core.env.PropertySource;

/**
 * What the conditions of the configurations on the class path read of an environment: the
 * properties of the framework and Tutti's switches, the active profiles and the Java
 * version. With equal inputs the conditions have equal outcomes.
 */
final class ConditionInputs {

	/**
	 * Letters and digits of the names, in lower case: more spellings than Spring accepts
	 * for a property.
	 */
	private static final Pattern READ = Pattern
		.compile("(spring|management|server|loggingfile|orgspringframework).*|tutti(.*enabled|gpu.*)|debug|trace");

	/** Set by Spring Boot itself, to other values for each process and jar. */
	private static final Set<String> ABOUT_THE_PROCESS = Set.of("spring.application.pid", "spring.application.version");

	/**
	 * Conditions on classes, beans and files of the class path, on the kind of
	 * application and on its logging library, which are those of the application layout.
	 */
	private static final Set<String> ON_THE_LAYOUT = Set.of("OnBeanCondition", "OnClassCondition",
			"OnResourceCondition", "GitResourceAvailableCondition", "OnWebApplicationCondition",
			"OnWarDeploymentCondition", "OnEnabledResourceChainCondition", "AncestorsMatchedCondition",
			"LogbackLoggingCondition", "DefaultDispatcherServletCondition", "DispatcherServletRegistrationCondition",
			"NotReactiveWebApplicationCondition", "MultipleNonPrimaryMeterRegistriesCondition",
			"ApplicationStartupCondition", "OnExecutorCondition", "CacheOrGroupedOpenApiCondition",
			"MultipleOpenApiSupportCondition");

	/** Conditions on properties and on profiles. */
	private static final Set<String> ON_PROPERTIES = Set.of("OnPropertyCondition", "OnExpressionCondition",
			"OnThreadingCondition", "OnAvailableEndpointCondition", "OnManagementPortCondition", "SwitchCondition",
			"OnEnabledHealthIndicatorCondition", "OnEnabledInfoContributorCondition", "OnMetricsExportEnabledCondition",
			"OnEnabledTracingExportCondition", "OnEnabledLoggingExportCondition", "ResourceBundleCondition",
			"SpanContextNotDisabledCondition", "OnNcclOrHostFallback",
			"PreferGsonOrJacksonAndJsonbUnavailableCondition", "PreferJackson2OrJacksonUnavailableCondition");

	/** A name in the message of a condition, other than of a class. */
	private static final Pattern NAME = Pattern.compile("(?<![a-z.])(?!org\\.)[a-z][a-z0-9-]*(\\.[a-z][a-z0-9-]*)+");

	private ConditionInputs() {
	}

	/** Returns the inputs in an environment, one per line. */
	static String of(ConfigurableEnvironment environment) {
		TreeSet<String> lines = new TreeSet<>();
		for (PropertySource<?> source : environment.getPropertySources()) {
			if (source instanceof EnumerablePropertySource<?> set) {
				Arrays.stream(set.getPropertyNames())
					.filter(ConditionInputs::isRead)
					.forEach((name) -> lines.add(name + "=" + value(name, environment)));
			}
			else {
				lines.add("source " + source.getName());
			}
		}
		lines.add("profiles " + Arrays.toString(environment.getActiveProfiles()));
		lines.add("java " + Runtime.version().feature());
		return String.join("\n", lines);
	}

	/** The variable of another program may have a value that Spring cannot resolve. */
	private static String value(String name, ConfigurableEnvironment environment) {
		try {
			return environment.getProperty(name);
		}
		catch (IllegalArgumentException ex) {
			return ex.getMessage();
		}
	}

	/** Whether a condition may read a property. */
	static boolean isRead(String name) {
		return !ABOUT_THE_PROCESS.contains(name)
				&& READ.matcher(name.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]", "")).matches();
	}

	/**
	 * Returns the evaluated conditions of which is not known what they read, and the
	 * properties that conditions name without being among the inputs.
	 */
	static Set<String> unknown(ConditionEvaluationReport report) {
		Set<String> unknown = new TreeSet<>();
		report.getConditionAndOutcomesBySource().values().forEach((outcomes) -> {
			for (ConditionAndOutcome each : outcomes) {
				String kind = each.getCondition().getClass().getSimpleName();
				if (ON_PROPERTIES.contains(kind)) {
					NAME.matcher(each.getOutcome().getMessage())
						.results()
						.map(MatchResult::group)
						.filter((name) -> !isRead(name))
						.forEach(unknown::add);
				}
				else if (!ON_THE_LAYOUT.contains(kind)) {
					unknown.add(kind);
				}
			}
		});
		return unknown;
	}

}
