package io.tutti.training.job;

import java.lang.foreign.MemorySegment;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.tutti.DataType;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.engine.spi.Sha256;
import io.tutti.training.Batch;
import io.tutti.training.DataParallelSettings;
import io.tutti.training.DistributedDataParallel;
import io.tutti.training.GradientScaling;
import io.tutti.training.ModelTensors;
import io.tutti.training.ShardedOptimizer;
import io.tutti.training.TrainingDevice;
import io.tutti.training.TrainingStep;
import io.tutti.training.checkpoint.ModelState;
import io.tutti.training.internal.Share;
import io.tutti.training.internal.TensorIdentity;
import io.tutti.training.internal.TensorMemory;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.Module;
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.Optimizer;
import org.bytedeco.pytorch.OptimizerParamGroupVector;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorVector;
import org.bytedeco.pytorch.global.torch;
import org.jspecify.annotations.Nullable;

/**
 * This rank's copy of a task's model and its optimizer. Trains on a share of a batch and
 * evaluates samples.
 */
final class Replica implements AutoCloseable {

	/**
	 * Held while a model draws its initial parameters from libtorch's only global
	 * generator, so that they depend on the seed only, also with several ranks in one
	 * process.
	 */
	private static final Object GENERATOR = new Object();

	/** Odd constants that keep the generator's states of steps and ranks apart. */
	private static final long STEP_STRIDE = 0x9E3779B97F4A7C15L;

	private static final long RANK_STRIDE = 0xC2B2AE3D27D4EB4FL;

	private final GuardedTask task;

	private final long seed;

	private final TrainingDevice device;

	private final Module model;

	private @Nullable Membership membership;

	private final TensorVector parameters;

	private final TensorVector buffers;

	private final long[] bufferIdentities;

	/** Distinct parameters, then distinct buffers: the model's state. */
	private final List<Tensor> state;

	private final TensorVector learning;

	/** {@code null} if the optimizer is divided among the ranks. */
	private @Nullable Optimizer whole;

	/** {@code null} if each rank has a whole optimizer, or before the first group. */
	private @Nullable ShardedOptimizer divided;

	private final List<Tensor> distinctBuffers;

	/** Copies of the buffers at the start of a step, if steps can be repeated. */
	private final List<Tensor> savedBuffers;

	private boolean inStep;

	private OptionalDouble learningRate = OptionalDouble.empty();

	private long selectionNanos;

	/** What connects the replica to the other ranks of a group. */
	private record Membership(ProcessGroup group, DistributedDataParallel replicas, BufferAverage bufferAverage) {
	}

	/**
	 * Builds the replica.
	 * @param repeats whether an incomplete step can be rolled back and repeated, which
	 * costs a copy of the buffers in each step
	 * @param shardsOptimizer whether the optimizer is divided among the ranks, which is
	 * possible in one group only
	 */
	Replica(GuardedTask task, long seed, TrainingDevice device, boolean repeats, boolean shardsOptimizer) {
		this.task = task;
		this.seed = seed;
		this.device = device;
		this.model = model(task, seed);
		device.take(this.model);
		this.model.train(true);
		this.parameters = this.model.parameters();
		this.buffers = this.model.buffers();
		this.bufferIdentities = TensorIdentity.identities(this.buffers);
		List<Tensor> distinct = TensorIdentity.distinct(List.of(this.parameters.get()));
		this.distinctBuffers = TensorIdentity.distinct(List.of(this.buffers.get()));
		this.state = new ArrayList<>(distinct);
		this.state.addAll(this.distinctBuffers);
		this.learning = new TensorVector(distinct.stream().filter(Tensor::requires_grad).toArray(Tensor[]::new));
		this.whole = shardsOptimizer ? null : task.optimizer(this.learning);
		this.savedBuffers = repeats ? this.distinctBuffers.stream().map(Tensor::clone).toList() : List.of();
	}

	/**
	 * Connects the replica to the ranks of a group, instead of those of an earlier group,
	 * and takes rank 0's parameters. A collective call.
	 */
	void join(ProcessGroup group) {
		leave();
		this.membership = new Membership(group,
				new DistributedDataParallel(group, this.model,
						DataParallelSettings.defaults().withScaling(GradientScaling.SUM), this.device.collectives(),
						StepTotals.NUMBERS),
				new BufferAverage(group, this.distinctBuffers));
		if (this.whole == null) {
			this.divided = new ShardedOptimizer(group, ModelTensors.of(this.model), this.task::optimizer);
		}
	}

	/** Also updates the parameters of the other ranks' parts if it is divided. */
	private void optimize() {
		if (this.divided != null) {
			this.divided.step();
		}
		else {
			Objects.requireNonNull(this.whole).step();
		}
	}

	private void leave() {
		Membership last = this.membership;
		this.membership = null;
		if (last == null) {
			return;
		}
		try (BufferAverage _ = last.bufferAverage()) {
			last.replicas().close();
		}
		catch (IllegalStateException ex) {
			if (!this.inStep) {
				throw ex;
			}
			// The first step has failed before its gradients were synchronized.
		}
	}

	private Membership membership() {
		return Objects.requireNonNull(this.membership, "the replica has joined no group");
	}

	private static Module model(GuardedTask task, long seed) {
		synchronized (GENERATOR) {
			torch.manual_seed(seed);
			return task.model();
		}
	}

	DistributedDataParallel replicas() {
		return membership().replicas();
	}

	/**
	 * Trains on this rank's share of a global batch. A collective call, even with an
	 * empty share.
	 * @param samples training samples of the share
	 * @param globalBatch number of samples of all shares
	 * @param stop whether this rank requests a stop after the step
	 * @return the step's totals over all ranks
	 */
	StepTotals learn(TrainingStep step, int[] samples, int globalBatch, boolean stop) {
		Membership current = membership();
		DistributedDataParallel replicas = current.replicas();
		torch.manual_seed(this.seed + STEP_STRIDE * (step.step() + 1) + RANK_STRIDE * current.group().rank());
		try (PointerScope _ = new PointerScope()) {
			begin();
			OptionalDouble rate = this.task.learningRate(step);
			replicas.zeroGradients();
			double loss = 0;
			if (samples.length > 0) {
				Batch batch = new Batch(samples, this.device);
				loss = backward(batch, globalBatch);
				this.selectionNanos += batch.selectionNanos();
			}
			requireSameBuffers();
			StepTotals.write(replicas.piggybackedValues(), loss, stop);
			replicas.synchronizeGradients();
			current.bufferAverage().combine((double) samples.length / globalBatch);
			// Last: after a failed reduction neither a parameter nor the optimizer has
			// changed.
			setLearningRate(rate);
			optimize();
			this.inStep = false;
			return StepTotals.read(replicas.piggybackedValues());
		}
	}

	/** Others would be neither averaged nor in a checkpoint. */
	private void requireSameBuffers() {
		try (TensorVector current = this.model.buffers()) {
			if (!Arrays.equals(TensorIdentity.identities(current), this.bufferIdentities)) {
				throw this.task.rejected("losses", "it has registered or replaced a buffer of the model, which would"
						+ " differ between ranks and be in no checkpoint. Register all buffers in model()");
			}
		}
	}

	private void begin() {
		this.inStep = true;
		if (!this.savedBuffers.isEmpty()) {
			copy(this.distinctBuffers, this.savedBuffers);
		}
	}

	/** Restores the buffers that an incomplete step has modified. */
	void rollback() {
		if (this.inStep) {
			copy(this.savedBuffers, this.distinctBuffers);
			this.inStep = false;
		}
	}

	/** Copies the values of tensors into others of the same shapes. */
	static void copy(List<Tensor> from, List<Tensor> to) {
		try (NoGradGuard _ = new NoGradGuard()) {
			for (int index = 0; index < from.size(); index++) {
				to.get(index).copy_(from.get(index));
			}
		}
	}

	/** Replaces a whole optimizer by one without state. */
	void renewOptimizer() {
		Optimizer renewed = this.task.optimizer(this.learning);
		try (Optimizer _ = this.whole) {
			this.whole = renewed;
		}
	}

	/**
	 * The state has been replaced, the buffers and the learning rate of the optimizer
	 * included.
	 */
	void stateReplaced() {
		this.learningRate = OptionalDouble.empty();
		if (this.membership != null) {
			this.membership.bufferAverage().restart();
		}
	}

	private void setLearningRate(OptionalDouble rate) {
		Optimizer own = (this.divided != null) ? this.divided.local() : this.whole;
		if (rate.isEmpty() || rate.equals(this.learningRate) || own == null) {
			return;
		}
		OptimizerParamGroupVector groups = own.param_groups();
		for (long index = 0; index < groups.size(); index++) {
			groups.get(index).options().set_lr(rate.getAsDouble());
		}
		this.learningRate = rate;
	}

	/**
	 * Runs the backward pass of the loss sum divided by the global batch size. Returns
	 * the undivided loss sum.
	 */
	private double backward(Batch batch, int globalBatch) {
		Tensor losses = this.task.losses(batch);
		Tensor loss = ((losses.scalar_type().intern() == torch.ScalarType.Double) ? losses
				: losses.to(torch.ScalarType.Float))
			.sum();
		this.task.backward(loss.div(new Scalar((double) globalBatch)));
		return loss.item_double();
	}

	/** Total time in which steps in this group only communicated. */
	long waitedNanos() {
		return replicas().waitedNanos() + membership().bufferAverage().waitedNanos()
				+ ((this.divided != null) ? this.divided.waitedNanos() : 0);
	}

	/** Bytes that this rank has passed to all-reduces in steps in this group. */
	long allReducedBytes() {
		return replicas().allReducedBytes() + membership().bufferAverage().allReducedBytes();
	}

	/** Total time in which steps selected their samples from the data. */
	long selectionNanos() {
		return this.selectionNanos;
	}

	/**
	 * Mean loss of the training samples in evaluation mode, over all ranks together. A
	 * collective call.
	 * @param count number of training samples
	 * @param stop whether this rank is to end the evaluation early
	 * @return the mean, empty if any rank ended early
	 */
	OptionalDouble meanLoss(int count, BooleanSupplier stop) {
		return mean(count, this.task::losses, stop);
	}

	/** As {@link #meanLoss}, of the scores of the test samples. */
	OptionalDouble meanScore(int count, BooleanSupplier stop) {
		return mean(count, this.task::scores, stop);
	}

	private OptionalDouble mean(int count, Function<Batch, Tensor> values, BooleanSupplier stop) {
		ProcessGroup group = membership().group();
		double[] sumAndCount = sumKeepingBuffers(Share.of(count, group.rank(), group.worldSize()), values, stop);
		group.allReduce(sumAndCount, ReduceOp.SUM);
		return (sumAndCount[1] < count) ? OptionalDouble.empty() : OptionalDouble.of(sumAndCount[0] / count);
	}

	/**
	 * Evaluates as {@link #sum} does. The ranks evaluate different numbers of parts, so
	 * that buffers that change, such as a counter of calls, keep their values.
	 */
	private double[] sumKeepingBuffers(Share share, Function<Batch, Tensor> values, BooleanSupplier stop) {
		try (PointerScope _ = new PointerScope(); NoGradGuard _ = new NoGradGuard()) {
			List<Tensor> before = this.distinctBuffers.stream().map(Tensor::clone).toList();
			try {
				return sum(share, values, stop);
			}
			finally {
				copy(before, this.distinctBuffers);
			}
		}
	}

	/** Evaluates parts of a range, so that memory use does not grow with the data. */
	private double[] sum(Share share, Function<Batch, Tensor> values, BooleanSupplier stop) {
		int atOnce = this.task.evaluationBatch();
		double sum = 0;
		this.model.eval();
		int from = share.from();
		while (from < share.to() && !stop.getAsBoolean()) {
			int to = from + Math.min(atOnce, share.to() - from);
			int[] samples = IntStream.range(from, to).toArray();
			try (PointerScope _ = new PointerScope(); NoGradGuard _ = new NoGradGuard()) {
				sum += values.apply(new Batch(samples, this.device)).to(torch.ScalarType.Double).sum().item_double();
			}
			from = to;
		}
		this.model.train(true);
		return new double[] { sum, from - share.from() };
	}

	/**
	 * Checks that a checkpoint can hold the model.
	 * @throws TaskException if not
	 */
	void requireStorable() {
		try {
			ModelState.requireStorable(ModelTensors.of(this.model));
		}
		catch (IllegalArgumentException ex) {
			throw this.task.rejected("model", String.valueOf(ex.getMessage()));
		}
	}

	/** The state for checkpoints; the model and the optimizer must outlive it. */
	ModelState checkpointState() {
		ModelTensors tensors = ModelTensors.of(this.model);
		return (this.divided != null) ? new ModelState(membership().group(), tensors, this.divided, this.device)
				: new ModelState(tensors, Objects.requireNonNull(this.whole), this.device);
	}

	/**
	 * Bytes of the optimizer's state by rank, if it is divided; otherwise empty. A
	 * collective call.
	 */
	List<Long> dividedStateBytes() {
		if (this.divided == null) {
			return List.of();
		}
		ProcessGroup group = membership().group();
		long[] all = new long[group.worldSize()];
		long[] own = { ModelState.optimizerBytes(this.divided.local()) };
		group.allGather(MemorySegment.ofArray(own), MemorySegment.ofArray(all), DataType.INT64);
		return Arrays.stream(all).boxed().toList();
	}

	/** Whether all values of the parameters that learn are finite. */
	boolean isFinite() {
		try (PointerScope _ = new PointerScope(); NoGradGuard _ = new NoGradGuard()) {
			return Stream.of(this.learning.get()).allMatch((parameter) -> parameter.isfinite().all().item_bool());
		}
	}

	/** SHA-256 over all parameters and buffers, in hexadecimal. */
	String stateSha256() {
		MessageDigest digest = Sha256.newDigest();
		this.state.forEach((tensor) -> TensorMemory.update(digest, tensor));
		return Sha256.hex(digest);
	}

	@Override
	public void close() {
		try (TensorVector _ = this.parameters;
				TensorVector _ = this.buffers;
				TensorVector _ = this.learning;
				ShardedOptimizer _ = this.divided) {
			leave();
		}
		finally {
			this.savedBuffers.forEach(Tensor::close);
		}
	}

}
