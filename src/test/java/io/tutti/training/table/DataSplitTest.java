package io.tutti.training.table;

import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

@Timeout(30)
class DataSplitTest {

	@Test
	void aFifthIsTheTestPartAndEveryRowIsInOnePart() {
		Dataset table = numbered(101);
		DataSplit split = DataSplit.of(table, 3);
		assertThat(split.training().rows()).isEqualTo(80);
		assertThat(split.test().rows()).isEqualTo(21);
		int[] labels = IntStream.concat(Arrays.stream(split.training().labels()), Arrays.stream(split.test().labels()))
			.sorted()
			.toArray();
		assertThat(labels).containsExactly(table.labels());
	}

	@Test
	void theSeedSelectsTheTestRows() {
		assertThat(DataSplit.of(numbered(50), 3).test().labels())
			.isEqualTo(DataSplit.of(numbered(50), 3).test().labels())
			.isNotEqualTo(DataSplit.of(numbered(50), 4).test().labels());
	}

	@Test
	void trainingColumnsHaveMeanZeroAndDeviationOne() {
		Dataset training = DataSplit.of(Digits.read(), 42).training();
		for (int column : new int[] { 2, 20, 45 }) {
			double[] values = column(training, column);
			double mean = Arrays.stream(values).average().orElseThrow();
			double variance = Arrays.stream(values)
				.map((value) -> (value - mean) * (value - mean))
				.average()
				.orElseThrow();
			assertThat(mean).isCloseTo(0, within(1e-6));
			assertThat(variance).isCloseTo(1, within(1e-5));
		}
	}

	@Test
	void testRowsAreScaledByStatisticsOfTheTrainingRows() {
		double[] features = { 0, 2, 0, 2, 100 };
		DataSplit split = null;
		for (long seed = 0; split == null || split.test().labels()[0] != 4; seed++) {
			split = DataSplit.of(new Dataset(1, 5, features.clone(), new int[] { 0, 1, 2, 3, 4 }), seed);
		}
		assertThat(split.test().features()).containsExactly(5);
		assertThat(split.training().features()).containsOnly(-1, 1);
	}

	@Test
	void constantColumnsBecomeZero() {
		double[] features = new double[20];
		Arrays.fill(features, 0.1f);
		DataSplit split = DataSplit.of(new Dataset(1, 2, features, new int[20]), 1);
		assertThat(split.training().features()).containsOnly(0);
		assertThat(split.test().features()).containsOnly(0);
	}

	@Test
	void rowsOfAWideTableHaveTheNormOfNarrowRows() {
		Random random = new Random(4);
		double[] features = new double[500 * 640];
		for (int index = 0; index < features.length; index++) {
			features[index] = random.nextGaussian();
		}
		DataSplit split = DataSplit.of(new Dataset(640, 500, features, new int[500]), 1);
		assertThat(squares(split.training())).isCloseTo(64, within(1e-3));
		assertThat(squares(split.test())).isCloseTo(64, within(3.0));
		assertThat(squares(DataSplit.of(Digits.read(), 42).training())).isBetween(50.0, 64.0);
	}

	private static double squares(Dataset table) {
		return IntStream.range(0, table.features().length)
			.mapToDouble((index) -> table.features()[index] * table.features()[index])
			.sum() / table.rows();
	}

	private static double[] column(Dataset table, int column) {
		return IntStream.range(0, table.rows())
			.mapToDouble((row) -> table.features()[row * table.columns() + column])
			.toArray();
	}

	private static Dataset numbered(int rows) {
		return new Dataset(1, rows, new double[rows], IntStream.range(0, rows).toArray());
	}

}
