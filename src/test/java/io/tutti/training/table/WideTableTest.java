package io.tutti.training.table;

import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Supplier;

import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.SimulatedWorld;
import io.tutti.training.SharesLibtorch;
import io.tutti.training.internal.Shuffle;
import io.tutti.training.job.TrainingJob;
import io.tutti.training.job.TrainingListener;
import io.tutti.training.job.TrainingOptions;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.LongOptional;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Training on tables of 10,000 rows and 800 columns. The default options reach at least
 * the accuracy of a linear model that this test fits separately. The tables are generated
 * from fixed seeds.
 */
@Timeout(300)
@SharesLibtorch
class WideTableTest {

	private static final int ROWS = 10_000;

	private static final int COLUMNS = 800;

	private static final int CLASSES = 10;

	/** Fewer than the default, to keep the test short. */
	private static final int EPOCHS = 6;

	private static List<Arguments> tables() {
		Supplier<Dataset> images = WideTableTest::images;
		Supplier<Dataset> planes = WideTableTest::planes;
		return List.of(Arguments.of("images", images), Arguments.of("planes", planes));
	}

	@ParameterizedTest(name = "{0}")
	@MethodSource("tables")
	void theDefaultsAreAtLeastAsAccurateAsALinearModel(String name, Supplier<Dataset> table) {
		Dataset data = table.get();
		double linear = linearAccuracy(data);
		assertThat(linear).isGreaterThan(3.0 / CLASSES);
		assertThat(accuracy(data, EPOCHS)).isGreaterThanOrEqualTo(linear);
	}

	static double accuracy(Dataset data, int epochs) {
		TrainingOptions options = new TrainingOptions(epochs, TrainingOptions.DEFAULT_GLOBAL_BATCH,
				TrainingOptions.DEFAULT_SEED, TrainingOptions.DEFAULT_THREADS, null, null);
		try (SimulatedWorld world = new SimulatedWorld(1, Timeouts.DEFAULTS)) {
			ClassifierTask task = new ClassifierTask(ClassifierOptions.defaults(), () -> data);
			return new TrainingJob(world.group(0), task, options, TrainingListener.NONE).run().testScore();
		}
	}

	/**
	 * Softmax regression on the same split, with columns of mean 0 and deviation 1, by
	 * full-batch gradient descent with Nesterov momentum.
	 */
	static double linearAccuracy(Dataset data) {
		int[] order = Shuffle.order(data.rows(), TrainingOptions.DEFAULT_SEED, Shuffle.SPLIT);
		Dataset training = data.select(order, 0, ROWS * 4 / 5);
		Dataset test = data.select(order, ROWS * 4 / 5, ROWS);
		try (PointerScope _ = new PointerScope()) {
			Tensor rows = torch.tensor(training.roundedFeatures()).view(training.rows(), COLUMNS);
			Tensor mean = rows.mean(0);
			Tensor deviation = rows.sub(mean).square().mean(0).sqrt().clamp_min(new Scalar(1e-6));
			Tensor scaled = rows.sub(mean).div(deviation);
			Tensor classes = torch.one_hot(labels(training), CLASSES).to(torch.ScalarType.Float);
			Tensor weights = fitted(scaled, classes);
			Tensor scores = torch.tensor(test.roundedFeatures())
				.view(test.rows(), COLUMNS)
				.sub(mean)
				.div(deviation)
				.mm(weights);
			return scores.argmax(new LongOptional(1), false).eq(labels(test)).sum().item_double() / test.rows();
		}
	}

	/**
	 * The classes are equally frequent and the columns have mean 0: no bias is needed.
	 */
	private static Tensor fitted(Tensor rows, Tensor classes) {
		double rate = 2 * rows.size(0) / largestEigenvalue(rows);
		Tensor weights = torch.zeros(COLUMNS, CLASSES);
		Tensor ahead = weights;
		for (int step = 0; step < 100; step++) {
			Tensor wrong = torch.softmax(rows.mm(ahead), 1).sub(classes);
			Tensor gradient = rows.t().mm(wrong).div(new Scalar((double) rows.size(0)));
			Tensor next = ahead.sub(gradient.mul(new Scalar(rate)));
			ahead = next.add(next.sub(weights).mul(new Scalar(step / (step + 3.0))));
			weights = next;
		}
		return weights;
	}

	private static double largestEigenvalue(Tensor rows) {
		Tensor vector = torch.ones(COLUMNS, 1);
		double length = 0;
		for (int step = 0; step < 20; step++) {
			Tensor product = rows.t().mm(rows.mm(vector));
			length = product.norm().item_double();
			vector = product.div(new Scalar(length));
		}
		return length;
	}

	private static Tensor labels(Dataset data) {
		return torch.tensor(Arrays.stream(data.labels()).asLongStream().toArray());
	}

	/**
	 * Images of 28 by 28 pixels: smooth patterns, several per class, with varying
	 * position and brightness, and noise. The pixels of the border are dark except in a
	 * few rows.
	 */
	static Dataset images() {
		int side = 28;
		int border = 4;
		int patterns = 4;
		Random random = new Random(1);
		float[][] pattern = new float[CLASSES * patterns][];
		for (int index = 0; index < pattern.length; index++) {
			pattern[index] = smooth(random, side);
		}
		double[] features = new double[ROWS * COLUMNS];
		int[] labels = new int[ROWS];
		for (int row = 0; row < ROWS; row++) {
			int shown = random.nextInt(pattern.length);
			labels[row] = shown / patterns;
			int right = random.nextInt(5) - 2;
			int down = random.nextInt(5) - 2;
			double brightness = 80 * (0.5 + random.nextDouble());
			boolean lit = random.nextInt(1000) == 0;
			for (int y = 0; y < side; y++) {
				for (int x = 0; x < side; x++) {
					boolean inside = Math.min(Math.min(x, y), side - 1 - Math.max(x, y)) >= border;
					double value = inside ? brightness
							* pattern[shown][Math.floorMod(y + down, side) * side + Math.floorMod(x + right, side)]
							+ 40 * random.nextGaussian() : lit ? random.nextInt(256) : 0;
					features[row * COLUMNS + y * side + x] = Math.round(Math.clamp(value, 0, 255));
				}
			}
		}
		return new Dataset(COLUMNS, CLASSES, features, labels);
	}

	private static float[] smooth(Random random, int side) {
		float[] values = new float[side * side];
		for (int wave = 0; wave < 6; wave++) {
			double right = random.nextInt(-3, 4);
			double down = random.nextInt(-3, 4);
			double phase = 2 * Math.PI * random.nextDouble();
			for (int pixel = 0; pixel < values.length; pixel++) {
				values[pixel] += (float) (0.6
						* Math.cos(2 * Math.PI * (right * (pixel % side) + down * (pixel / side)) / side + phase));
			}
		}
		return values;
	}

	/**
	 * Normal columns; the class is the one with the highest of several linear functions
	 * of the row, with noise.
	 */
	static Dataset planes() {
		Random random = new Random(2);
		float[][] planes = new float[CLASSES][COLUMNS];
		for (float[] plane : planes) {
			for (int column = 0; column < COLUMNS; column++) {
				plane[column] = (float) random.nextGaussian();
			}
		}
		double[] features = new double[ROWS * COLUMNS];
		int[] labels = new int[ROWS];
		for (int row = 0; row < ROWS; row++) {
			for (int column = 0; column < COLUMNS; column++) {
				features[row * COLUMNS + column] = (float) random.nextGaussian();
			}
			labels[row] = highest(planes, features, row, random);
		}
		return new Dataset(COLUMNS, CLASSES, features, labels);
	}

	private static int highest(float[][] planes, double[] features, int row, Random random) {
		int highest = 0;
		double height = Double.NEGATIVE_INFINITY;
		for (int plane = 0; plane < CLASSES; plane++) {
			double sum = 0.5 * Math.sqrt(COLUMNS) * random.nextGaussian();
			for (int column = 0; column < COLUMNS; column++) {
				sum += planes[plane][column] * features[row * COLUMNS + column];
			}
			if (sum > height) {
				height = sum;
				highest = plane;
			}
		}
		return highest;
	}

}
