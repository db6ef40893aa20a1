package io.tutti.training;

import java.util.Map;
import java.util.OptionalDouble;

import org.bytedeco.pytorch.Module;
import org.bytedeco.pytorch.Optimizer;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorVector;

/**
 * What a {@link io.tutti.training.job.TrainingJob} trains: data, model, loss, optimizer,
 * learning rate and evaluation. The job does the rest: it assigns samples to steps and
 * ranks, averages gradients, agrees on stops, keeps checkpoints and reports progress.
 * <p>
 * Each rank has its own instance, whose methods are called on one thread, in this order:
 * {@link #load}, {@link #model}, {@link #optimizer}; then {@link #learningRate} and
 * {@link #losses} in each step and {@link #scores} after each epoch; at the end
 * {@link #close}. A rank whose share of a batch is empty is not asked for losses in that
 * step. A task must not depend on the rank or the world size, and its methods make no
 * collective calls.
 * <p>
 * Started by class name, a task has one public constructor without parameters, or with
 * one record, whose components are its options on the command line ({@link TaskOption}).
 * <p>
 * An exception of a task ends the job on every rank.
 */
public interface TrainingTask extends AutoCloseable {

	/**
	 * {@return name of the task in progress lines and on the live page}
	 */
	default String name() {
		return getClass().getSimpleName();
	}

	/**
	 * Loads the data, the same on every rank.
	 * @param seed seed of the job, for example for a split into training and test samples
	 * @param device the rank's device; {@link TrainingDevice#take(Tensor)} moves a tensor
	 * to it
	 * @return the number of samples, at least 1 of each kind
	 */
	SampleCounts load(long seed, TrainingDevice device);

	/**
	 * Values that determine the result and differ between jobs, such as options and a
	 * hash of the data. All ranks must have the same values, and a checkpoint of a job
	 * with other values is refused. Called after {@link #load}. By default the name of
	 * the class. The job's own names are refused: {@code seed}, {@code global batch},
	 * {@code training samples}, {@code test samples}, {@code epochs}, {@code device},
	 * {@code rank weights}, {@code optimizer} and {@code checkpoint}.
	 * @return values by name
	 */
	default Map<String, String> identity() {
		return Map.of("task", getClass().getName());
	}

	/**
	 * Creates the model, in main memory. libtorch's global generator has been seeded. The
	 * job moves the model to the device, replaces its parameters and buffers by rank 0's,
	 * and keeps it in training mode except during evaluation. The task keeps the model
	 * open until {@link #close}.
	 * @return the model with all its parameters and buffers, the same object in each call
	 * of {@link #losses} and {@link #scores}
	 */
	Module model();

	/**
	 * Creates the optimizer.
	 * @param parameters the parameters that require a gradient, each once, also if the
	 * model registers one under several names. If the job divides the optimizer among the
	 * ranks, those of this rank's part; a rank without a part is not asked for one. In an
	 * elastic job, a rank that has made a step alone and takes the state before it is
	 * asked for a new one, after which the job closes the first
	 * @return the optimizer; the job steps it and the task closes it
	 */
	Optimizer optimizer(TensorVector parameters);

	/**
	 * Learning rate of a step, finite and at least 0; empty to keep the optimizer's. It
	 * must depend on the arguments only. A job continued for more epochs equals one
	 * started with that many only if the rate does not depend on
	 * {@link TrainingStep#epochs()}.
	 * @param step the step that begins
	 * @return the rate of all parameter groups, or empty
	 */
	default OptionalDouble learningRate(TrainingStep step) {
		return OptionalDouble.empty();
	}

	/**
	 * The loss of each sample of a batch. The job minimizes the mean over the global
	 * batch; it sums and divides by itself, since ranks may have unequal shares. Tensors
	 * created inside the call are freed after the step. Also called in evaluation mode,
	 * to measure the loss of all training samples if there is a {@link #guessingLoss()};
	 * buffers of the model have their values back after it.
	 * @param batch training samples
	 * @return one loss per sample, of shape {@code [batch.size()]}, without reduction
	 */
	Tensor losses(Batch batch);

	/**
	 * The {@link #metric()} of each sample of a batch, without gradients. The result of
	 * the evaluation is the mean over all test samples. Buffers of the model have their
	 * values back after it.
	 * @param batch test samples
	 * @return one number or boolean per sample, of shape {@code [batch.size()]}
	 */
	Tensor scores(Batch batch);

	/**
	 * What the mean of {@link #scores} is. By default the accuracy.
	 * @return name and unit of the mean
	 */
	default TestMetric metric() {
		return TestMetric.ACCURACY;
	}

	/**
	 * Number of samples evaluated at once, at least 1. By default 256.
	 * @return the number of samples
	 */
	default int evaluationBatch() {
		return 256;
	}

	/**
	 * The mean loss of a model that guesses. If present, the job measures the mean loss
	 * over all training samples before the first and after the last step, and fails if
	 * the model ends worse than it began and worse than guessing. By default absent: then
	 * only a loss that is not finite ends the job.
	 * @return the loss, or empty
	 */
	default OptionalDouble guessingLoss() {
		return OptionalDouble.empty();
	}

	/**
	 * What to change when the training diverges, as a sentence without its full stop.
	 * @return the advice
	 */
	default String divergenceAdvice() {
		return "Lower the learning rate, raise --global-batch, and look for values in the data that are not finite";
	}

	/** Frees the data, the model and the optimizer. */
	@Override
	default void close() {
	}

}
