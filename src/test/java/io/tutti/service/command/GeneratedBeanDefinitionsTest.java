package io.tutti.service.command;

import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

import io.tutti.service.TuttiApplication;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.boot.autoconfigure.condition.ConditionEvaluationReport;
import org.springframework.boot.autoconfigure.condition.ConditionEvaluationReport.ConditionAndOutcome;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the conditions of the configurations read is all that is compared before the bean
 * definitions of the build are used.
 */
class GeneratedBeanDefinitionsTest {

	private static final Pattern PROPERTY = Pattern
		.compile("(?<![a-z.])(?!org\\.)[a-z][a-z0-9-]*(\\.[a-z][a-z0-9-]*)+");

	/**
	 * Conditions on classes, beans and files of the class path, on the kind of
	 * application and on the Java version, which are the same in each run of the layout.
	 */
	private static final Set<String> ON_THE_LAYOUT = Set.of("OnBeanCondition", "OnClassCondition",
			"OnResourceCondition", "GitResourceAvailableCondition", "OnWebApplicationCondition",
			"OnWarDeploymentCondition", "OnEnabledResourceChainCondition", "AncestorsMatchedCondition",
			"LogbackLoggingCondition", "DefaultDispatcherServletCondition", "DispatcherServletRegistrationCondition",
			"NotReactiveWebApplicationCondition", "MultipleNonPrimaryMeterRegistriesCondition",
			"ApplicationStartupCondition", "OnExecutorCondition", "CacheOrGroupedOpenApiCondition",
			"MultipleOpenApiSupportCondition");

	/** Conditions on properties, which their messages may leave out, and on profiles. */
	private static final Set<String> ON_PROPERTIES = Set.of("OnPropertyCondition", "OnExpressionCondition",
			"OnThreadingCondition", "OnAvailableEndpointCondition", "OnManagementPortCondition", "SwitchCondition",
			"OnEnabledHealthIndicatorCondition", "OnEnabledInfoContributorCondition", "OnMetricsExportEnabledCondition",
			"OnEnabledTracingExportCondition", "OnEnabledLoggingExportCondition", "ResourceBundleCondition",
			"SpanContextNotDisabledCondition", "OnNcclOrHostFallback", "IsAllowed", "ProfileCondition",
			"PreferGsonOrJacksonAndJsonbUnavailableCondition", "PreferJackson2OrJacksonUnavailableCondition");

	@Test
	void everyPropertyThatAConditionNamesIsCompared() {
		Set<String> kinds = new TreeSet<>();
		Set<String> properties = new TreeSet<>();
		report().getConditionAndOutcomesBySource().values().forEach((outcomes) -> {
			for (ConditionAndOutcome each : outcomes) {
				String kind = each.getCondition().getClass().getSimpleName();
				kinds.add(kind);
				if (ON_PROPERTIES.contains(kind)) {
					PROPERTY.matcher(each.getOutcome().getMessage()).results().forEach((match) -> {
						properties.add(match.group());
					});
				}
			}
		});
		kinds.removeAll(ON_THE_LAYOUT);
		kinds.removeAll(ON_PROPERTIES);
		assertThat(kinds).as("kinds of conditions of which is not known what they read").isEmpty();
		assertThat(properties).contains("tutti.metrics.enabled", "spring.aop.auto", "springdoc.api-docs.enabled")
			.allMatch(GeneratedBeanDefinitions::isReadByConditions);
	}

	@ParameterizedTest
	@ValueSource(strings = { "tutti.enabled", "tutti.http.enabled", "TUTTI_METRICS_ENABLED", "TUTTI_GPU_HOSTFALLBACK",
			"spring.threads.virtual.enabled", "SPRING_JMX_ENABLED", "management.server.port", "SERVER_SHUTDOWN",
			"springdoc.show-actuator" })
	void apropertyThatAConditionReadsMakesADifference(String name) {
		assertThat(inputs(name)).isNotEqualTo(inputs("HOME"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "RANK", "TUTTI_RANK", "tutti.http.port", "tutti.timeout.collective", "logging.level.root",
			"spring.application.pid", "SPRINGFIELD", "java.class.path" })
	void apropertyThatOnlyBeansReadMakesNone(String name) {
		assertThat(inputs(name)).isEqualTo(inputs("HOME"));
	}

	@Test
	void anotherValueOrProfileMakesADifference() {
		StandardEnvironment environment = environment(Map.of("spring.aop.auto", "true"));
		String before = GeneratedBeanDefinitions.inputs(environment);
		environment.getPropertySources()
			.addFirst(new MapPropertySource("arguments", Map.of("spring.aop.auto", "false")));
		assertThat(GeneratedBeanDefinitions.inputs(environment)).isNotEqualTo(before);
		environment.getPropertySources().remove("arguments");
		assertThat(GeneratedBeanDefinitions.inputs(environment)).isEqualTo(before);
		environment.addActiveProfile("mpi");
		assertThat(GeneratedBeanDefinitions.inputs(environment)).isNotEqualTo(before);
	}

	private static String inputs(String name) {
		return GeneratedBeanDefinitions.inputs(environment(Map.of(name, "value")));
	}

	private static StandardEnvironment environment(Map<String, Object> properties) {
		StandardEnvironment environment = new StandardEnvironment();
		environment.getPropertySources().forEach((source) -> environment.getPropertySources().remove(source.getName()));
		environment.getPropertySources().addLast(new MapPropertySource("properties", properties));
		return environment;
	}

	private static ConditionEvaluationReport report() {
		GenericApplicationContext context = BeanDefinitionGenerator
			.load(RankService.application(TuttiApplication.class, RankService.JOB_DEFAULTS));
		context.refreshForAotProcessing(new RuntimeHints());
		return ConditionEvaluationReport.get(context.getBeanFactory());
	}

}
