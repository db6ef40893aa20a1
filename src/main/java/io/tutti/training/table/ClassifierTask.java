package io.tutti.training.table;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.function.Supplier;

import io.tutti.BadConfigurationException;
import io.tutti.engine.RegularFile;
import io.tutti.training.Batch;
import io.tutti.training.SampleCounts;
import io.tutti.training.TrainingDevice;
import io.tutti.training.TrainingStep;
import io.tutti.training.TrainingTask;
import org.bytedeco.pytorch.CrossEntropyLossOptions;
import org.bytedeco.pytorch.LongOptional;
import org.bytedeco.pytorch.Module;
import org.bytedeco.pytorch.Optimizer;
import org.bytedeco.pytorch.SGD;
import org.bytedeco.pytorch.SGDOptions;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.global.torch;
import org.bytedeco.pytorch.kNone;
import org.jspecify.annotations.Nullable;

/**
 * Trains a network with one hidden layer to classify the rows of a table, by default the
 * bundled digits.
 */
public final class ClassifierTask implements TrainingTask {

	private static final double MOMENTUM = 0.9;

	/** Limits overfitting to many columns with little information. */
	private static final double WEIGHT_DECAY = 3e-3;

	/** Learning-rate decay: the rate is divided by 1 + decay · epoch. */
	private static final double RATE_DECAY = 0.5;

	/** Rows evaluated at once, so that memory use does not grow with the table. */
	private static final int EVALUATED_ROWS = 1024;

	/**
	 * Version of the column scaling and the learning-rate schedule. A checkpoint of
	 * another version is rejected.
	 */
	private static final String RECIPE = "2";

	private final ClassifierOptions options;

	private final Supplier<Dataset> table;

	private String dataSha256 = "";

	private long seed;

	private @Nullable SampleTensors training;

	private @Nullable SampleTensors test;

	private @Nullable Classifier classifier;

	private @Nullable SGD optimizer;

	/**
	 * Creates the task.
	 * @param options data and learning rate
	 * @throws BadConfigurationException if the table is not a readable file
	 * @throws MalformedDataException if the beginning of the table is malformed
	 */
	public ClassifierTask(ClassifierOptions options) {
		this(options, (options.table() != null) ? reader(options.table()) : Digits::read);
	}

	/** Creates the task with a table that is not a file. */
	ClassifierTask(ClassifierOptions options, Supplier<Dataset> table) {
		this.options = options;
		this.table = table;
	}

	/**
	 * Later, a mistake would be found only after every rank has joined. A long table is
	 * read then, since the other ranks may wait for this one to join.
	 */
	private static Supplier<Dataset> reader(TableSource data) {
		requireReadable(data.file(), "--data");
		if (data.testFile() != null) {
			requireReadable(data.testFile(), "--test-data");
		}
		TableReader.check(data);
		return () -> TableReader.read(data);
	}

	private static void requireReadable(Path data, String option) {
		String problem = RegularFile.problem(data, Long.MAX_VALUE);
		if (problem != null) {
			throw new BadConfigurationException("the table " + data + " cannot be read: " + problem, "Check " + option);
		}
	}

	/** Path of the table, or {@code digits}. */
	@Override
	public String name() {
		TableSource source = this.options.table();
		return (source != null) ? source.toString() : "digits";
	}

	@Override
	public SampleCounts load(long seed, TrainingDevice device) {
		Dataset data = this.table.get();
		DataSplit split = DataSplit.of(data, seed);
		this.seed = seed;
		this.dataSha256 = data.sha256();
		this.training = SampleTensors.of(split.training(), device);
		this.test = SampleTensors.of(split.test(), device);
		return new SampleCounts(split.training().rows(), split.test().rows());
	}

	@Override
	public Map<String, String> identity() {
		Map<String, String> identity = new LinkedHashMap<>();
		identity.put("learning rate", Double.toString(this.options.learningRate()));
		identity.put("data", this.dataSha256);
		identity.put("model", this.training.columns() + "-" + Classifier.HIDDEN + "-" + this.training.classes());
		identity.put("recipe", RECIPE);
		return identity;
	}

	@Override
	public Module model() {
		this.classifier = new Classifier(this.training.columns(), this.training.classes(), this.seed);
		return this.classifier;
	}

	@Override
	public Optimizer optimizer(TensorVector parameters) {
		SGDOptions settings = new SGDOptions(this.options.learningRate());
		settings.momentum().put(MOMENTUM);
		settings.weight_decay().put(WEIGHT_DECAY);
		this.optimizer = new SGD(parameters, settings);
		return this.optimizer;
	}

	@Override
	public OptionalDouble learningRate(TrainingStep step) {
		return OptionalDouble.of(this.options.learningRate() / (1 + RATE_DECAY * step.epoch()));
	}

	@Override
	public Tensor losses(Batch batch) {
		CrossEntropyLossOptions each = new CrossEntropyLossOptions();
		each.reduction().put(new kNone());
		return torch.cross_entropy(this.classifier.forward(batch.of(this.training.features())),
				batch.of(this.training.labels()), each);
	}

	/** Whether each sample is classified correctly. */
	@Override
	public Tensor scores(Batch batch) {
		Tensor predicted = this.classifier.forward(batch.of(this.test.features())).argmax(new LongOptional(1), false);
		return predicted.eq(batch.of(this.test.labels()));
	}

	@Override
	public int evaluationBatch() {
		return EVALUATED_ROWS;
	}

	@Override
	public OptionalDouble guessingLoss() {
		return OptionalDouble.of(Math.log(this.training.classes()));
	}

	@Override
	public String divergenceAdvice() {
		return "Try a --learning-rate below " + this.options.learningRate()
				+ " or a larger --global-batch, and look for wrong values and classes in the table";
	}

	@Override
	public void close() {
		try (SampleTensors _ = this.test;
				SampleTensors _ = this.training;
				Classifier _ = this.classifier;
				SGD _ = this.optimizer) {
			// Closes what exists.
		}
	}

	/**
	 * A data set as tensors: features of rows x columns, and one class label per row.
	 */
	private record SampleTensors(int columns, int classes, Tensor features, Tensor labels) implements AutoCloseable {

		static SampleTensors of(Dataset data, TrainingDevice device) {
			try (Tensor flat = torch.tensor(data.roundedFeatures())) {
				return new SampleTensors(data.columns(), data.classes(),
						device.take(flat.view(data.rows(), data.columns())),
						device.take(torch.tensor(Arrays.stream(data.labels()).asLongStream().toArray())));
			}
		}

		@Override
		public void close() {
			this.features.close();
			this.labels.close();
		}

	}

}
