package io.tutti.training.job;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@Timeout(30)
class DivergenceCheckTest {

	private static final double GUESS = Math.log(10);

	private static final String ADVICE = "Try a --learning-rate below 0.05 or a larger --global-batch";

	private final DivergenceCheck check = new DivergenceCheck(2.2, GUESS, Double.POSITIVE_INFINITY, ADVICE);

	@ParameterizedTest
	@ValueSource(doubles = { Double.NaN, Double.POSITIVE_INFINITY })
	void aNonFiniteLossEndsTheTrainingImmediately(double loss) {
		assertThatExceptionOfType(TrainingDivergedException.class).isThrownBy(() -> this.check.step(7, loss))
			.withMessageContaining("at step 7")
			.withMessageContaining("--learning-rate below 0.05")
			.withMessageContaining("--global-batch");
	}

	@Test
	void anImplausiblyLargeAndGrowingLossEndsTheTraining() {
		this.check.step(1, 1e30);
		this.check.epoch(1, 0.4);
		this.check.epoch(2, 9 * GUESS);
		assertThatExceptionOfType(TrainingDivergedException.class).isThrownBy(() -> this.check.epoch(3, 11 * GUESS))
			.withMessageContaining("grew from 20.72 to 25.33 in epoch 3")
			.withMessageContaining("before the first step it was 2.303");
	}

	@Test
	void aTrainingThatRecoversContinues() {
		assertThatCode(() -> {
			for (double loss : new double[] { 1e6, 1e5, 1e5, 300, 20, 22, 1, 2, 0.4 }) {
				this.check.epoch(1, loss);
			}
			this.check.end(0.4);
		}).doesNotThrowAnyException();
	}

	@ParameterizedTest
	@ValueSource(doubles = { Double.NaN, Double.POSITIVE_INFINITY, 1e28, 2.4 })
	void aModelWorseThanBeforeTheTrainingIsRejected(double loss) {
		assertThatExceptionOfType(TrainingDivergedException.class).isThrownBy(() -> this.check.end(loss))
			.withMessageContaining("the trained model has a loss of");
	}

	@Test
	void withoutALossBeforeTheTrainingOnlyNonFiniteLossesAreRejected() {
		DivergenceCheck finite = new DivergenceCheck(DivergenceCheck.UNKNOWN, DivergenceCheck.UNKNOWN,
				Double.POSITIVE_INFINITY, ADVICE);
		assertThatCode(() -> {
			finite.epoch(1, 1);
			finite.epoch(2, 1e9);
			finite.end(1e9);
		}).doesNotThrowAnyException();
		assertThatExceptionOfType(TrainingDivergedException.class).isThrownBy(() -> finite.step(3, Double.NaN))
			.withMessage("the training diverged: the loss is NaN at step 3. " + ADVICE);
	}

	@Test
	void aNegativeLossIsComparedByItsDistanceFromTheBaseline() {
		DivergenceCheck negative = new DivergenceCheck(-1.4, -1.5, Double.POSITIVE_INFINITY, ADVICE);
		assertThatCode(() -> {
			negative.epoch(1, -3);
			negative.epoch(2, -2.99);
			negative.epoch(3, 11);
			negative.end(-1.39);
		}).doesNotThrowAnyException();
		assertThatExceptionOfType(TrainingDivergedException.class).isThrownBy(() -> negative.epoch(4, 11.3));
		assertThatExceptionOfType(TrainingDivergedException.class).isThrownBy(() -> negative.end(-1.38));
	}

	@Test
	void anEpochIsNotComparedWithABaselineOfZero() {
		DivergenceCheck zero = new DivergenceCheck(0, -1, Double.POSITIVE_INFINITY, ADVICE);
		assertThatCode(() -> {
			zero.epoch(1, 0.1);
			zero.epoch(2, 0.2);
			zero.end(0);
		}).doesNotThrowAnyException();
		assertThatExceptionOfType(TrainingDivergedException.class).isThrownBy(() -> zero.end(0.1));
	}

	@Test
	void aModelThatLearntNothingIsAccepted() {
		assertThatCode(() -> this.check.end(GUESS)).doesNotThrowAnyException();
		assertThatCode(() -> new DivergenceCheck(3, GUESS, Double.POSITIVE_INFINITY, ADVICE).end(3))
			.doesNotThrowAnyException();
	}

}
