package io.tutti.training.table;

import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

@Timeout(30)
class ColumnScaleTest {

	private static final int ROWS = 8000;

	private static final float LIMIT = 5;

	@ParameterizedTest
	@ValueSource(doubles = { 1e-200, 1e-30, 1e-6, 1, 1e6, 1e30 })
	void aNormalColumnHasMeanZeroAndDeviationOneInEveryUnit(double unit) {
		double[] scaled = scaled(normal(unit, 3));
		assertThat(mean(scaled)).isCloseTo(0, within(1e-3));
		assertThat(deviation(scaled)).isCloseTo(1, within(1e-3));
	}

	/** Such as a time in seconds, of which a 32-bit float keeps two minutes. */
	@Test
	void smallDifferencesOfLargeValuesAreKept() {
		double[] column = IntStream.range(0, ROWS).mapToDouble((row) -> 1.7e9 + row).toArray();
		double[] scaled = scaled(column);
		assertThat(deviation(scaled)).isCloseTo(1, within(1e-3));
		assertThat(scaled).doesNotHaveDuplicates();
	}

	/** Without winsorisation, all other values would be almost equal. */
	@ParameterizedTest
	@ValueSource(doubles = { 100, 1e6, 1e38 })
	void aFewOutliersDoNotCompressTheOtherValues(double outlier) {
		double[] column = normal(1, 0);
		Arrays.fill(column, 0, ROWS / 100, outlier);
		double[] scaled = Arrays.copyOfRange(scaled(column), ROWS / 100, ROWS);
		assertThat(deviation(scaled)).isBetween(0.7, 1.0);
		assertThat(ColumnScale.of(column.clone()).apply(outlier)).isEqualTo(LIMIT);
	}

	@Test
	void aHeavyTailedColumnKeepsTheSpreadOfItsMiddleHalf() {
		Random random = new Random(5);
		double[] column = values(() -> Math.tan(Math.PI * (random.nextDouble() - 0.5)));
		double[] scaled = scaled(column);
		Arrays.sort(scaled);
		assertThat(scaled[ROWS * 3 / 4] - scaled[ROWS / 4]).isGreaterThan(0.3);
		assertThat(scaled[0]).isEqualTo(-LIMIT);
		assertThat(scaled[ROWS - 1]).isEqualTo(LIMIT);
	}

	/** The deviation of such a column is so small that one row is 89 deviations away. */
	@ParameterizedTest
	@ValueSource(doubles = { 1e-6, 1, 255, 1e30 })
	void anAlmostConstantColumnIsClamped(double rare) {
		double[] column = new double[ROWS];
		column[17] = rare;
		ColumnScale scale = ColumnScale.of(column.clone());
		assertThat(scale.apply(0)).isCloseTo(0, within(0.02f));
		assertThat(scale.apply(rare)).isEqualTo(LIMIT);
		assertThat(scale.apply(Float.MAX_VALUE)).isEqualTo(LIMIT);
		assertThat(scale.apply(-Float.MAX_VALUE)).isEqualTo(-LIMIT);
	}

	@ParameterizedTest
	@ValueSource(doubles = { 0, 0.1, -1e38, Float.MIN_VALUE })
	void aConstantColumnIsZeroForEveryTestValue(double value) {
		double[] column = new double[ROWS];
		Arrays.fill(column, value);
		ColumnScale scale = ColumnScale.of(column);
		assertThat(scale.apply(value)).isZero();
		assertThat(scale.apply(1e30f)).isZero();
	}

	/** Pixels that are dark in most images carry much information where they are lit. */
	@Test
	void aMostlyZeroColumnKeepsTheOrderOfItsValues() {
		double[] column = values(() -> 0);
		IntStream.range(0, ROWS / 10).forEach((row) -> column[row * 10] = 55 + row % 200);
		ColumnScale scale = ColumnScale.of(column.clone());
		assertThat(scale.apply(255)).isGreaterThan(scale.apply(155) + 0.5f).isLessThanOrEqualTo(LIMIT);
		assertThat(scale.apply(155)).isGreaterThan(scale.apply(55) + 0.5f);
	}

	private static double[] normal(double unit, double mean) {
		Random random = new Random(3);
		return values(() -> unit * (random.nextGaussian() + mean));
	}

	private interface Source {

		double next();

	}

	private static double[] values(Source source) {
		double[] values = new double[ROWS];
		for (int row = 0; row < ROWS; row++) {
			values[row] = source.next();
		}
		return values;
	}

	private static double[] scaled(double[] column) {
		ColumnScale scale = ColumnScale.of(column.clone());
		return IntStream.range(0, column.length).mapToDouble((row) -> scale.apply(column[row])).toArray();
	}

	private static double mean(double[] values) {
		return Arrays.stream(values).average().orElseThrow();
	}

	private static double deviation(double[] values) {
		double mean = mean(values);
		return Math.sqrt(Arrays.stream(values).map((value) -> (value - mean) * (value - mean)).average().orElseThrow());
	}

}
