package io.tutti.service.config;

import java.util.Map;

import org.junit.jupiter.api.Test;

import org.springframework.boot.SpringApplication;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.StandardEnvironment;

import static org.assertj.core.api.Assertions.assertThat;

class LoggedRankTest {

	@Test
	void everyApplicationWithTheLibraryCanLogItsRank() {
		ConfigurableEnvironment environment = processed(Map.of("tutti.rank", "2", "tutti.world-size", "3"));
		assertThat(environment.getProperty("tutti.log.rank")).isEqualTo("2");
		assertThat(environment.getProperty("tutti.log.world-size")).isEqualTo("3");
	}

	@Test
	void withoutALauncherTheRankIsZeroOfOne() {
		assertThat(processed(Map.of()).resolvePlaceholders("rank ${tutti.log.rank:?} of ${tutti.log.world-size:?}"))
			.isEqualTo("rank 0 of 1");
	}

	@Test
	void anUnresolvableRankIsAQuestionMark() {
		assertThat(processed(Map.of("tutti.rank", "2")).getProperty("tutti.log.rank")).isEqualTo("?");
	}

	@Test
	void anApplicationInWhichTheLibraryIsDisabledHasNoRank() {
		assertThat(processed(Map.of("tutti.enabled", "false")).getProperty("tutti.log.rank")).isNull();
	}

	@Test
	void aRealApplicationRunsIt() {
		SpringApplication application = new SpringApplication(LoggedRankTest.class);
		application.setDefaultProperties(Map.of("tutti.rank", "1", "tutti.world-size", "4"));
		try (var context = application.run("--spring.main.web-application-type=none")) {
			assertThat(context.getEnvironment().getProperty("tutti.log.rank")).isEqualTo("1");
		}
	}

	private static ConfigurableEnvironment processed(Map<String, Object> properties) {
		ConfigurableEnvironment environment = new StandardEnvironment();
		environment.getPropertySources().addFirst(new MapPropertySource("test", properties));
		new LoggedRank().postProcessEnvironment(environment, new SpringApplication());
		return environment;
	}

}
