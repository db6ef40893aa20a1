package io.tutti.training;

import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToDoubleFunction;

import io.tutti.ProcessGroup;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.CrossEntropyLossOptions;
import org.bytedeco.pytorch.Device;
import org.bytedeco.pytorch.LongOptional;
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.SGD;
import org.bytedeco.pytorch.SGDOptions;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.global.torch;
import org.bytedeco.pytorch.kSum;

/**
 * This rank's copy of the model and its optimizer. Trains on a share of a batch and
 * classifies test samples.
 */
final class Replica implements AutoCloseable {

	private static final double MOMENTUM = 0.9;

	/** Limits overfitting to many columns with little information. */
	private static final double WEIGHT_DECAY = 3e-3;

	/** Learning-rate decay: the rate is divided by 1 + decay · epoch. */
	private static final double RATE_DECAY = 0.5;

	/** Rows evaluated at once, so that memory use does not grow with the table. */
	private static final int TEST_ROWS = 1024;

	private final Classifier classifier;

	private final TensorVector parameters;

	private final SGD optimizer;

	private final DistributedDataParallel replicas;

	private final TrainingDevice device;

	private final double learningRate;

	/** Builds the replica with rank 0's parameters. A collective call. */
	Replica(ProcessGroup group, int columns, int classes, TrainingOptions options, TrainingDevice device) {
		this.device = device;
		this.learningRate = options.learningRate();
		this.classifier = new Classifier(columns, classes, options.seed());
		device.take(this.classifier);
		this.parameters = this.classifier.parameters();
		SGDOptions settings = new SGDOptions(options.learningRate());
		settings.momentum().put(MOMENTUM);
		settings.weight_decay().put(WEIGHT_DECAY);
		this.optimizer = new SGD(this.parameters, settings);
		this.replicas = new DistributedDataParallel(group, this.classifier,
				DataParallelSettings.defaults().withScaling(GradientScaling.SUM), device.collectives(),
				StepTotals.NUMBERS);
	}

	DistributedDataParallel replicas() {
		return this.replicas;
	}

	/**
	 * Sets the learning rate of an epoch, counted from 0. The rate depends on the epoch
	 * only, so that a job continued for more epochs equals a job started with that many.
	 */
	void beginEpoch(int epoch) {
		try (PointerScope _ = new PointerScope()) {
			this.optimizer.param_groups().get(0).options().set_lr(this.learningRate / (1 + RATE_DECAY * epoch));
		}
	}

	/**
	 * Trains on this rank's share of a global batch. A collective call, even with an
	 * empty share.
	 * @param stop whether this rank requests a stop after the step
	 * @return the step's totals over all ranks
	 */
	StepTotals learn(SampleTensors samples, int[] order, Share share, int globalBatch, boolean stop) {
		try (PointerScope _ = new PointerScope()) {
			this.replicas.zeroGradients();
			double loss = (share.size() > 0) ? backward(samples, order, share, globalBatch) : 0;
			StepTotals.write(this.replicas.piggybackedValues(), loss, stop);
			this.replicas.synchronizeGradients();
			this.optimizer.step();
			return StepTotals.read(this.replicas.piggybackedValues());
		}
	}

	/**
	 * Runs the backward pass of the loss sum divided by the global batch size. Returns
	 * the undivided loss sum.
	 */
	private double backward(SampleTensors samples, int[] order, Share share, int globalBatch) {
		Tensor indices = samples.indices(order, share);
		Tensor loss = lossSum(samples.features(indices), samples.labels(indices));
		loss.div(new Scalar((double) globalBatch)).backward();
		return loss.item_double();
	}

	/** Sum of the losses of a share's samples. */
	double lossSum(SampleTensors samples, Share share) {
		return sum(share, (part) -> lossSumAtOnce(samples, part));
	}

	private double lossSumAtOnce(SampleTensors samples, Share share) {
		try (PointerScope _ = new PointerScope(); NoGradGuard _ = new NoGradGuard()) {
			return lossSum(samples.features(share), samples.labels(share)).item_double();
		}
	}

	private Tensor lossSum(Tensor features, Tensor labels) {
		CrossEntropyLossOptions sum = new CrossEntropyLossOptions();
		sum.reduction().put(new kSum());
		return torch.cross_entropy(this.classifier.forward(features), labels, sum);
	}

	/** Number of correctly classified samples in a share. */
	long countCorrect(SampleTensors samples, Share share) {
		return (long) sum(share, (part) -> countCorrectAtOnce(samples, part));
	}

	/** Sums a function over parts of a share of at most {@value #TEST_ROWS} rows. */
	private static double sum(Share share, ToDoubleFunction<Share> part) {
		double sum = 0;
		for (int from = share.from(); from < share.to(); from += TEST_ROWS) {
			sum += part.applyAsDouble(new Share(from, Math.min(from + TEST_ROWS, share.to())));
		}
		return sum;
	}

	private long countCorrectAtOnce(SampleTensors samples, Share share) {
		try (PointerScope _ = new PointerScope(); NoGradGuard _ = new NoGradGuard()) {
			Tensor predicted = this.classifier.forward(samples.features(share)).argmax(new LongOptional(1), false);
			return predicted.eq(samples.labels(share)).sum().item_long();
		}
	}

	/** The parameters' bytes, for a checkpoint. */
	List<byte[]> parameterBytes() {
		List<byte[]> bytes = new ArrayList<>();
		for (long index = 0; index < this.parameters.size(); index++) {
			bytes.add(TensorMemory.bytes(this.parameters.get(index)));
		}
		return bytes;
	}

	/** The optimizer's state, for a checkpoint. */
	byte[] optimizerBytes() {
		return OptimizerArchive.save(this.optimizer);
	}

	/** Restores the state from a checkpoint of the same model. */
	void restore(List<byte[]> parameterBytes, byte[] optimizerBytes) {
		for (int index = 0; index < parameterBytes.size(); index++) {
			TensorMemory.replace(this.parameters.get(index), parameterBytes.get(index));
		}
		try (Device place = this.device.open()) {
			OptimizerArchive.load(this.optimizer, optimizerBytes, place);
		}
	}

	/** SHA-256 over all parameters, in hexadecimal. */
	String parameterSha256() {
		MessageDigest digest = Sha256.newDigest();
		parameterBytes().forEach(digest::update);
		return Sha256.hex(digest);
	}

	@Override
	public void close() {
		this.replicas.close();
		this.optimizer.close();
		this.parameters.close();
		this.classifier.close();
	}

}
