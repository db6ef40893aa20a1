package io.tutti.service.recorder;

import io.tutti.FreePort;
import io.tutti.service.autoconfigure.ProcessGroupAutoConfiguration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Isolated;

import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(60)
@Isolated
@ExtendWith(OutputCaptureExtension.class)
class FailureFileAutoConfigurationTest {

	private static final String WARNING = "tutti.flight-recorder.on-failure has no effect";

	private final ApplicationContextRunner runner = new ApplicationContextRunner().withConfiguration(
			AutoConfigurations.of(ProcessGroupAutoConfiguration.class, FailureFileAutoConfiguration.class));

	private final ApplicationContextRunner lazy = this.runner.withInitializer(
			(context) -> context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()));

	private final ApplicationContextRunner withoutJson = this.runner
		.withClassLoader(new FilteredClassLoader("tools.jackson"));

	@Test
	void aRankThatCannotWriteFilesSaysSoOnce(CapturedOutput output) {
		String[] rank = { "tutti.rank=0", "tutti.world-size=2", "tutti.master-port=" + FreePort.next() };
		this.runner.withPropertyValues(rank).run((context) -> assertThat(context).hasSingleBean(FailureFile.class));
		this.withoutJson.run((context) -> assertThat(context).hasNotFailed());
		this.withoutJson.withPropertyValues(rank)
			.withPropertyValues("tutti.flight-recorder.on-failure=false")
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).doesNotContain(WARNING);
		this.withoutJson.withPropertyValues(rank).run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).containsOnlyOnce(WARNING).contains("Add spring-boot-starter-jackson");
	}

	@Test
	void anApplicationThatCreatesItsBeansWhenTheyAreUsedWritesFilesToo(CapturedOutput output) {
		this.lazy.run((context) -> assertThat(context.getSourceApplicationContext(ConfigurableApplicationContext.class)
			.getBeanFactory()
			.containsSingleton("tuttiFailureFile")).isTrue());
		this.lazy.withClassLoader(new FilteredClassLoader("tools.jackson"))
			.withPropertyValues("tutti.rank=0", "tutti.world-size=2", "tutti.master-port=" + FreePort.next())
			.run((context) -> assertThat(context).hasNotFailed());
		assertThat(output).containsOnlyOnce(WARNING);
	}

}
