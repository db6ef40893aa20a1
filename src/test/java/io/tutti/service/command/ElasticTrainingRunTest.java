package io.tutti.service.command;

import java.nio.file.Path;

import io.tutti.BadConfigurationException;
import io.tutti.service.config.TrainProperties;
import io.tutti.training.job.RankShares;
import io.tutti.training.job.TrainingOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.support.GenericApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class ElasticTrainingRunTest {

	@ParameterizedTest
	@ValueSource(strings = { "cuda", "cuda:1" })
	void aGpuIsRefused(String device) {
		assertThatExceptionOfType(BadConfigurationException.class)
			.isThrownBy(() -> ElasticTrainingRun.requireProcessor(new TrainProperties(device)))
			.withMessageContaining("tutti.train.device=" + device)
			.satisfies((refused) -> assertThat(refused.exitCode()).isEqualTo(64));
	}

	@Test
	void anOptimizerDividedAmongTheRanksIsRefused() {
		TrainingOptions whole = TrainingOptions.defaults();
		assertThatCode(() -> ElasticTrainingRun.requireWholeOptimizer(whole)).doesNotThrowAnyException();
		assertThatExceptionOfType(BadConfigurationException.class)
			.isThrownBy(() -> ElasticTrainingRun.requireWholeOptimizer(whole.withShardedOptimizer(true)))
			.withMessageContainingAll("--sharded-optimizer", "--min-ranks")
			.satisfies((refused) -> assertThat(refused.exitCode()).isEqualTo(64));
	}

	@Test
	void sharesThatHoldForOneNumberOfRanksAreRefused() {
		TrainingOptions equal = TrainingOptions.defaults();
		TrainingOptions weighted = new TrainingOptions(1, 32, 1, 1, null, null, RankShares.parse("1,2,2"));
		assertThatCode(() -> check(equal)).doesNotThrowAnyException();
		assertThatCode(() -> check(new TrainingOptions(1, 32, 1, 1, null, null, RankShares.MEASURED)))
			.doesNotThrowAnyException();
		assertThatExceptionOfType(BadConfigurationException.class).isThrownBy(() -> check(weighted))
			.withMessageContainingAll("--rank-weights [1.0, 2.0, 2.0]", "--min-ranks")
			.satisfies((refused) -> assertThat(refused.exitCode()).isEqualTo(64));
	}

	/** Each rank may become rank 0, which writes it. */
	@Test
	void aReportThatARankCannotWriteIsRefused(@TempDir Path directory) {
		Path report = directory.resolve("none/report.json");
		assertThatExceptionOfType(BadConfigurationException.class)
			.isThrownBy(() -> check(new TrainingOptions(1, 32, 1, 1, null, report)))
			.withMessageContaining("there is no directory " + report.getParent());
	}

	/** The context of any rank. */
	private static void check(TrainingOptions options) {
		try (GenericApplicationContext context = new GenericApplicationContext()) {
			context.registerBean(TrainProperties.class, () -> new TrainProperties("cpu"));
			context.refresh();
			ElasticTrainingRun.check(context, options);
		}
	}

	@Test
	void theCpuIsUsedAlsoWhereTheDeviceIsLeftOpen() {
		assertThatCode(() -> ElasticTrainingRun.requireProcessor(new TrainProperties("auto")))
			.doesNotThrowAnyException();
		assertThatCode(() -> ElasticTrainingRun.requireProcessor(new TrainProperties("cpu")))
			.doesNotThrowAnyException();
	}

}
