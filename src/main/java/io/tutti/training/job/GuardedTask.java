package io.tutti.training.job;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.function.Supplier;

import io.tutti.ExitCode;
import io.tutti.training.Batch;
import io.tutti.training.SampleCounts;
import io.tutti.training.TestMetric;
import io.tutti.training.TrainingDevice;
import io.tutti.training.TrainingStep;
import io.tutti.training.TrainingTask;
import io.tutti.training.internal.TensorIdentity;
import io.tutti.training.internal.TensorMemory;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.pytorch.LBFGS;
import org.bytedeco.pytorch.Module;
import org.bytedeco.pytorch.Optimizer;
import org.bytedeco.pytorch.OptimizerParamGroupVector;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorVector;

/**
 * A user's task with checks: what it returns follows the contract, and an exception names
 * the task and the method.
 *
 * @param task the user's task
 */
record GuardedTask(TrainingTask task) implements TrainingTask {

	@Override
	public String name() {
		return call("name", this.task::name);
	}

	@Override
	public SampleCounts load(long seed, TrainingDevice device) {
		return call("load", () -> this.task.load(seed, device));
	}

	@Override
	public Map<String, String> identity() {
		return call("identity", this.task::identity);
	}

	@Override
	public Module model() {
		Module model = call("model", this.task::model);
		// Open until the last look: a tensor of a list is a part of the list's memory.
		try (TensorVector parameters = model.parameters()) {
			if (Arrays.stream(parameters.get()).noneMatch(Tensor::requires_grad)) {
				throw rejected("model", "it has no parameter that requires a gradient");
			}
		}
		return model;
	}

	@Override
	public Optimizer optimizer(TensorVector parameters) {
		Optimizer optimizer = call("optimizer", () -> this.task.optimizer(parameters));
		if (optimizer instanceof LBFGS) {
			throw rejected("optimizer", "LBFGS computes the loss several times per step, which a job does not, and its"
					+ " state is lists that a checkpoint cannot hold. Return another optimizer, or run LBFGS in a loop of"
					+ " your own with DistributedDataParallel");
		}
		requireOnly(parameters, optimizer);
		return optimizer;
	}

	/**
	 * libtorch updates a parameter once for each time that it is listed, and a tied one
	 * of a model is listed by all of its names. A divided optimizer has only a part.
	 */
	private void requireOnly(TensorVector parameters, Optimizer optimizer) {
		Set<Long> given = new HashSet<>();
		Arrays.stream(parameters.get()).forEach((parameter) -> given.add(TensorIdentity.identity(parameter)));
		Set<Long> updated = new HashSet<>();
		OptimizerParamGroupVector groups = optimizer.param_groups();
		for (long group = 0; group < groups.size(); group++) {
			for (Tensor parameter : groups.get(group).params().get()) {
				long identity = TensorIdentity.identity(parameter);
				if (!given.contains(identity) || !updated.add(identity)) {
					throw rejected("optimizer",
							"it updates a parameter of shape " + TensorMemory.shape(parameter)
									+ (given.contains(identity) ? " twice" : " that the method was not given")
									+ ". Create it from the parameters that the method is given, each once");
				}
			}
		}
	}

	@Override
	public OptionalDouble learningRate(TrainingStep step) {
		OptionalDouble rate = call("learningRate", () -> this.task.learningRate(step));
		if (rate.isPresent() && !(rate.getAsDouble() >= 0 && Double.isFinite(rate.getAsDouble()))) {
			throw rejected("learningRate", "the rate must be finite and at least 0, got " + rate.getAsDouble()
					+ " at step " + (step.step() + 1));
		}
		return rate;
	}

	@Override
	public Tensor losses(Batch batch) {
		return onePerSample("losses", call("losses", () -> this.task.losses(batch)), batch);
	}

	@Override
	public Tensor scores(Batch batch) {
		return onePerSample("scores", call("scores", () -> this.task.scores(batch)), batch);
	}

	@Override
	public TestMetric metric() {
		return call("metric", this.task::metric);
	}

	@Override
	public int evaluationBatch() {
		int samples = call("evaluationBatch", this.task::evaluationBatch);
		if (samples < 1) {
			throw rejected("evaluationBatch", "the number of samples must be at least 1, got " + samples);
		}
		return samples;
	}

	@Override
	public OptionalDouble guessingLoss() {
		OptionalDouble loss = call("guessingLoss", this.task::guessingLoss);
		if (loss.isPresent() && !Double.isFinite(loss.getAsDouble())) {
			throw rejected("guessingLoss", "the loss must be finite, got " + loss.getAsDouble());
		}
		return loss;
	}

	@Override
	public String divergenceAdvice() {
		return call("divergenceAdvice", this.task::divergenceAdvice);
	}

	@Override
	public void close() {
		call("close", () -> {
			this.task.close();
			return this;
		});
	}

	/** Runs the backward pass of a loss, whose failures are those of {@code losses}. */
	void backward(Tensor loss) {
		if (!loss.requires_grad()) {
			throw rejected("losses",
					"the losses do not depend on a parameter that requires a gradient, as after detach()");
		}
		call("losses, backward pass", () -> {
			loss.backward();
			return loss;
		});
	}

	/** A mean or a sum in place of one value per sample would train something else. */
	private Tensor onePerSample(String method, Tensor values, Batch batch) {
		if (values.dim() != 1 || values.size(0) != batch.size()) {
			throw rejected(method,
					"it must return one value for each of the " + batch.size() + " samples, of shape " + batch.size()
							+ ", got "
							+ ((values.dim() == 0)
									? "a single value; return the values of the"
											+ " samples without reducing them (reduction none)"
									: "shape " + TensorMemory.shape(values)));
		}
		if (values.is_complex()) {
			throw rejected(method, "it must return real values, got " + values.scalar_type().intern());
		}
		return values;
	}

	private <T> T call(String method, Supplier<T> call) {
		T result;
		try {
			result = call.get();
		}
		catch (Exception | LinkageError | AssertionError | StackOverflowError ex) {
			// Other languages than Java throw checked exceptions that are not declared.
			if (ex instanceof ExitCode.Source) {
				throw ex;
			}
			throw TaskException.failed(this.task.getClass().getName(), method, ex);
		}
		if (result == null) {
			throw rejected(method, "it returned null");
		}
		if (result instanceof Pointer object && object.isNull()) {
			throw rejected(method, "it returned an object that is closed");
		}
		return result;
	}

	/** The exception for a result that breaks the contract. */
	TaskException rejected(String method, String problem) {
		return TaskException.rejected(this.task.getClass().getName(), method, problem);
	}

}
