package io.tutti.service.command;

import io.tutti.service.config.ConfigurationException;
import io.tutti.service.config.TrainProperties;
import io.tutti.training.job.TrainingOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class ElasticTrainingRunTest {

	@ParameterizedTest
	@ValueSource(strings = { "cuda", "cuda:1" })
	void aGpuIsRefused(String device) {
		assertThatExceptionOfType(ConfigurationException.class)
			.isThrownBy(() -> ElasticTrainingRun.requireProcessor(new TrainProperties(device)))
			.withMessageContaining("tutti.train.device=" + device)
			.satisfies((refused) -> assertThat(refused.exitCode()).isEqualTo(64));
	}

	@Test
	void anOptimizerDividedAmongTheRanksIsRefused() {
		TrainingOptions whole = TrainingOptions.defaults();
		assertThatCode(() -> ElasticTrainingRun.requireWholeOptimizer(whole)).doesNotThrowAnyException();
		assertThatExceptionOfType(ConfigurationException.class)
			.isThrownBy(() -> ElasticTrainingRun.requireWholeOptimizer(whole.withShardedOptimizer(true)))
			.withMessageContainingAll("--sharded-optimizer", "--min-ranks")
			.satisfies((refused) -> assertThat(refused.exitCode()).isEqualTo(64));
	}

	@Test
	void theCpuIsUsedAlsoWhereTheDeviceIsLeftOpen() {
		assertThatCode(() -> ElasticTrainingRun.requireProcessor(new TrainProperties("auto")))
			.doesNotThrowAnyException();
		assertThatCode(() -> ElasticTrainingRun.requireProcessor(new TrainProperties("cpu")))
			.doesNotThrowAnyException();
	}

}
