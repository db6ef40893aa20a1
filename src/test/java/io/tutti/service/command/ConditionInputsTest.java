package io.tutti.service.command;

import java.util.HashMap;
import java.util.Map;

import io.tutti.service.TuttiApplication;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.aot.hint.RuntimeHints;
import org.springframework.boot.autoconfigure.condition.ConditionEvaluationReport;
import org.springframework.boot.autoconfigure.condition.ConditionOutcome;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.PropertySource;
import org.springframework.core.env.StandardEnvironment;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * All that conditions read is among the inputs that are compared.
 */
class ConditionInputsTest {

	private static final Map<String, Object> PACKAGED = Map.of("spring.aop.auto", "true");

	@Test
	void everythingThatTheConditionsOfAServedRankReadIsKnown() {
		GenericApplicationContext context = BeanDefinitionGenerator
			.load(RankService.application(TuttiApplication.class, RankService.JOB_DEFAULTS));
		context.refreshForAotProcessing(new RuntimeHints());
		ConditionEvaluationReport report = ConditionEvaluationReport.get(context.getBeanFactory());
		assertThat(report.getConditionAndOutcomesBySource()).hasSizeGreaterThan(100);
		assertThat(BeanDefinitionGenerator.unknown(report)).isEmpty();
		report.recordConditionEvaluation("a configuration", (_, _) -> true,
				ConditionOutcome.match("of a kind that nobody knows"));
		assertThat(BeanDefinitionGenerator.unknown(report)).hasSize(1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "tutti.enabled", "tutti.http.enabled", "TUTTI_METRICS_ENABLED", "_TUTTI_METRICS_ENABLED",
			"tutti.http.en_abled", "t-utti.ht-tp.enabled", "tutti[http].enabled", "Tutti.Http.Enabled",
			"TUTTI_GPU_HOSTFALLBACK", "spring.threads.virtual.enabled", "SPRING_JMX_ENABLED", "management.server.port",
			"manage-ment.health.diskspace.enabled", "SERVER_SHUTDOWN", "springdoc.show-actuator", "logging.file.name",
			"org.springframework.boot.logging.LoggingSystem", "DEBUG" })
	void aPropertyThatAConditionReadsMakesADifference(String name) {
		assertThat(with(name, "false")).isNotEqualTo(with("HOME", "/"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "RANK", "TUTTI_RANK", "tutti.http.port", "tutti.timeout.collective", "logging.level.root",
			"spring.application.pid", "DEBUGGER", "java.class.path" })
	void aPropertyThatOnlyBeansReadMakesNone(String name) {
		assertThat(with(name, "value")).isEqualTo(with("HOME", "/"));
	}

	@Test
	void anotherValueProfileOrSourceMakesADifference() {
		StandardEnvironment environment = environment(PACKAGED);
		String packaged = ConditionInputs.of(environment);
		assertThat(packaged).contains("spring.aop.auto=true", "java " + Runtime.version().feature());
		environment.getPropertySources()
			.addFirst(new MapPropertySource("arguments", Map.of("spring.aop.auto", "false")));
		assertThat(ConditionInputs.of(environment)).isNotEqualTo(packaged);
		environment.getPropertySources().remove("arguments");
		assertThat(ConditionInputs.of(environment)).isEqualTo(packaged);
		environment.addActiveProfile("mpi");
		assertThat(ConditionInputs.of(environment)).isNotEqualTo(packaged);
		environment.setActiveProfiles();
		environment.getPropertySources().addFirst(new PropertySource.StubPropertySource("without names"));
		assertThat(ConditionInputs.of(environment)).isNotEqualTo(packaged);
	}

	@Test
	void aValueThatCannotBeResolvedIsNoFailure() {
		assertThat(with("SERVER_NAME", "${SERVER_NAME}")).contains("SERVER_NAME=");
	}

	private static String with(String name, String value) {
		Map<String, Object> properties = new HashMap<>(PACKAGED);
		properties.put(name, value);
		return ConditionInputs.of(environment(properties));
	}

	private static StandardEnvironment environment(Map<String, Object> properties) {
		StandardEnvironment environment = new StandardEnvironment();
		environment.getPropertySources().forEach((source) -> environment.getPropertySources().remove(source.getName()));
		environment.getPropertySources().addLast(new MapPropertySource("properties", properties));
		return environment;
	}

}
