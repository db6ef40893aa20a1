package io.tutti.training.task;

import java.util.Arrays;
import java.util.Map;
import java.util.stream.IntStream;

import io.tutti.training.Batch;
import io.tutti.training.SampleCounts;
import io.tutti.training.TaskOption;
import io.tutti.training.TrainingDevice;
import io.tutti.training.TrainingTask;
import io.tutti.training.table.Dataset;
import io.tutti.training.table.Digits;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.Positive;
import org.bytedeco.javacpp.LongPointer;
import org.bytedeco.pytorch.Adam;
import org.bytedeco.pytorch.AdamOptions;
import org.bytedeco.pytorch.BatchNorm2dImpl;
import org.bytedeco.pytorch.BatchNormOptions;
import org.bytedeco.pytorch.Conv2dImpl;
import org.bytedeco.pytorch.Conv2dOptions;
import org.bytedeco.pytorch.CrossEntropyLossOptions;
import org.bytedeco.pytorch.LinearImpl;
import org.bytedeco.pytorch.LongOptional;
import org.bytedeco.pytorch.Module;
import org.bytedeco.pytorch.Optimizer;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.global.torch;
import org.bytedeco.pytorch.kNone;
import org.jspecify.annotations.Nullable;

/**
 * Classifies the images of the bundled digits with a convolutional network with batch
 * normalization. Every fifth image is for the test.
 */
public final class DigitsConvolution implements TrainingTask {

	private static final int SIDE = 8;

	/** Pixels are 0 to 16. */
	private static final float BRIGHTEST = 16;

	private static final int TEST_EVERY = 5;

	private final Options options;

	private @Nullable Images training;

	private @Nullable Images test;

	private @Nullable Network network;

	private @Nullable Adam optimizer;

	/**
	 * Options of the task.
	 *
	 * @param channels channels of the first convolution, from 1 to 256; the second has
	 * twice as many
	 * @param rate learning rate of Adam, above 0 and at most 1
	 */
	public record Options(
			@TaskOption(value = "Channels of the first convolution; the second has twice as many",
					defaultValue = "16") @Min(1) @Max(256) int channels,
			@TaskOption(value = "Learning rate of Adam", defaultValue = "0.002") @Positive @Max(1) double rate) {
	}

	/**
	 * Creates the task without loading anything.
	 * @param options options of the task
	 */
	public DigitsConvolution(Options options) {
		this.options = options;
	}

	@Override
	public SampleCounts load(long seed, TrainingDevice device) {
		Dataset digits = Digits.read();
		this.training = Images.of(digits, device, false);
		this.test = Images.of(digits, device, true);
		return new SampleCounts(this.training.count(), this.test.count());
	}

	@Override
	public Map<String, String> identity() {
		return Map.of("task", "digits convolution 1", "options", this.options.toString());
	}

	@Override
	public Module model() {
		this.network = new Network(this.options.channels());
		return this.network;
	}

	@Override
	public Optimizer optimizer(TensorVector parameters) {
		this.optimizer = new Adam(parameters, new AdamOptions(this.options.rate()));
		return this.optimizer;
	}

	@Override
	public Tensor losses(Batch batch) {
		CrossEntropyLossOptions each = new CrossEntropyLossOptions();
		each.reduction().put(new kNone());
		return torch.cross_entropy(this.network.forward(batch.of(this.training.pixels())),
				batch.of(this.training.labels()), each);
	}

	/** Whether each image is classified correctly. */
	@Override
	public Tensor scores(Batch batch) {
		Tensor classes = this.network.forward(batch.of(this.test.pixels())).argmax(new LongOptional(1), false);
		return classes.eq(batch.of(this.test.labels()));
	}

	@Override
	public void close() {
		try (Images _ = this.test; Images _ = this.training; Network _ = this.network; Adam _ = this.optimizer) {
			// Closes what exists.
		}
	}

	/**
	 * Images as count x 1 x 8 x 8 values from 0 to 1, and the digit of each.
	 */
	private record Images(int count, Tensor pixels, Tensor labels) implements AutoCloseable {

		static Images of(Dataset digits, TrainingDevice device, boolean test) {
			int[] rows = IntStream.range(0, digits.rows())
				.filter((row) -> (row % TEST_EVERY == TEST_EVERY - 1) == test)
				.toArray();
			float[] pixels = new float[rows.length * digits.columns()];
			for (int index = 0; index < pixels.length; index++) {
				int row = rows[index / digits.columns()];
				pixels[index] = (float) digits.features()[row * digits.columns() + index % digits.columns()]
						/ BRIGHTEST;
			}
			long[] labels = Arrays.stream(rows).mapToLong((row) -> digits.labels()[row]).toArray();
			try (Tensor flat = torch.tensor(pixels)) {
				return new Images(rows.length, device.take(flat.view(rows.length, 1, SIDE, SIDE)),
						device.take(torch.tensor(labels)));
			}
		}

		@Override
		public void close() {
			this.pixels.close();
			this.labels.close();
		}

	}

	/**
	 * Two convolutions, each with batch normalization and a maximum over 2 x 2 values,
	 * and a linear layer.
	 */
	private static final class Network extends Module {

		private static final int CLASSES = 10;

		private final Conv2dImpl first;

		private final BatchNorm2dImpl firstNorm;

		private final Conv2dImpl second;

		private final BatchNorm2dImpl secondNorm;

		private final LinearImpl output;

		Network(int channels) {
			this.first = register_module("first", convolution(1, channels));
			this.firstNorm = register_module("first_norm", new BatchNorm2dImpl(new BatchNormOptions(channels)));
			this.second = register_module("second", convolution(channels, 2 * channels));
			this.secondNorm = register_module("second_norm", new BatchNorm2dImpl(new BatchNormOptions(2 * channels)));
			this.output = register_module("output", new LinearImpl(2 * channels * SIDE / 4 * SIDE / 4, CLASSES));
		}

		/** A convolution of 3 x 3 values that keeps the image's size. */
		private static Conv2dImpl convolution(long from, long to) {
			Conv2dOptions options = new Conv2dOptions(from, to, new LongPointer(3, 3));
			options.padding().put(new LongPointer(1, 1));
			return new Conv2dImpl(options);
		}

		/** Class scores: images in, images x 10 out. */
		Tensor forward(Tensor images) {
			Tensor half = torch.max_pool2d(torch.relu(this.firstNorm.forward(this.first.forward(images))), 2, 2);
			Tensor quarter = torch.max_pool2d(torch.relu(this.secondNorm.forward(this.second.forward(half))), 2, 2);
			return this.output.forward(quarter.flatten(1, -1));
		}

	}

}
