package io.tutti.training.job;

import java.nio.file.Path;

import io.tutti.training.checkpoint.CheckpointOptions;
import io.tutti.training.table.ClassifierOptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

@Timeout(10)
class TrainingOptionsTest {

	@Test
	void theDefaultsUseTheDigitsWithoutCheckpoint() {
		TrainingOptions defaults = TrainingOptions.defaults();
		assertThat(ClassifierOptions.defaults().data()).isNull();
		assertThat(defaults.checkpoint()).isNull();
		assertThat(defaults.epochs()).isEqualTo(TrainingOptions.DEFAULT_EPOCHS);
	}

	@ParameterizedTest
	@CsvSource({ "0, 32, 0.05, 1, 0, epochs must be at least 1", "1, 0, 0.05, 1, 0, global batch must be at least 1",
			"1, 32, 0, 1, 0, learning rate must be a finite number above 0",
			"1, 32, NaN, 1, 0, learning rate must be a finite number above 0",
			"1, 32, Infinity, 1, 0, learning rate must be a finite number above 0",
			"1, 32, 0.05, 0, 0, threads must be at least 1", "1, 32, 0.05, 1, -1, steps between checkpoints" })
	void anOutOfRangeValueIsRejectedWithItsRange(int epochs, int globalBatch, double learningRate, int threads,
			int checkpointEvery, String message) {
		assertThatIllegalArgumentException().isThrownBy(() -> {
			ClassifierJob job = new ClassifierJob(epochs, globalBatch, learningRate, 1, threads, null, Path.of("."),
					checkpointEvery, null);
			job.options();
			job.task();
		}).withMessageContaining(message);
	}

	@Test
	void atLeastOneCheckpointIsKept() {
		assertThatIllegalArgumentException().isThrownBy(() -> new CheckpointOptions(Path.of("."), 5, 0))
			.withMessageContaining("keep must be at least 1, got 0");
	}

}
