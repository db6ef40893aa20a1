package io.tutti.training;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

import io.tutti.engine.ProcessGroup;
import io.tutti.engine.device.DeviceCollectives;
import org.bytedeco.pytorch.Module;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorVector;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the replicas of a model the same on every rank, by giving each rank the combined
 * gradient of all.
 * <p>
 * On construction every rank takes rank 0's parameters and buffers, and the gradients
 * move into a few flat buckets of native memory. From then on a step is
 *
 * <pre>
 * replicas.zeroGradients();
 * loss.backward();
 * replicas.synchronizeGradients();
 * optimizer.step();
 * </pre>
 *
 * Buckets are reduced in place, in the same order on every rank, and by default while the
 * backward pass is still computing the gradients of earlier layers. A rank that has
 * nothing to learn from in a step leaves {@code backward()} out and joins with zeros; so
 * does a parameter that a rank's loss does not depend on. Buffers are the same only at
 * the start: what a batch normalisation gathers afterwards is each rank's own.
 * <p>
 * Parameters must be float32, all in main memory or all on one GPU; those that need no
 * gradient or have no elements are left alone. A tensor that is registered under several
 * names is one parameter with one gradient; libtorch's {@code parameters()} lists it once
 * per name, and an optimizer that is given that list steps it as often. On a GPU the
 * buckets lie there too and are reduced where they are, and the first exchange of
 * parameters goes through main memory. The model must not get or lose parameters, and
 * none may be replaced. Close this before the model is differentiated on its own again:
 * until then the gradients lie in memory that belongs here, and native code calls back.
 * Used by one thread at a time. A {@link io.tutti.engine.CollectiveException} means that
 * the group is broken.
 * <p>
 * Making a model loads libtorch. A program makes its group before, or calls
 * {@link io.tutti.engine.javacpp.NativeLibraryPreparation#prepare()}, so that ranks that
 * start together do not unpack libtorch at the same time.
 */
public final class DistributedDataParallel implements AutoCloseable {

	private final TensorVector parameters;

	private final List<Tensor> frozen;

	private final long parameterCount;

	private final GradientBuckets buckets;

	private boolean closed;

	/**
	 * Wraps a model with {@link DataParallelSettings#defaults()}.
	 * @see #DistributedDataParallel(ProcessGroup, Module, DataParallelSettings)
	 */
	public DistributedDataParallel(ProcessGroup group, Module module) {
		this(group, module, DataParallelSettings.defaults());
	}

	/**
	 * Wraps a model. A collective call: every rank wraps its replica at the same place in
	 * the group's order.
	 * @param group the ranks that train together; must outlive this object
	 * @param module the user's own model, which stays the user's
	 * @param settings the same on every rank
	 * @throws IllegalArgumentException if the model has nothing to learn, or a parameter
	 * that is not float32 in main memory
	 * @throws ReplicaMismatchException if the ranks' models or settings differ
	 */
	public DistributedDataParallel(ProcessGroup group, Module module, DataParallelSettings settings) {
		this(group, module, settings, null, 0);
	}

	/**
	 * As above for a model that may be on a GPU.
	 * @param onDevice carries the gradients of a model on a GPU; the group's own
	 * @throws IllegalArgumentException if the model has nothing to learn, or a parameter
	 * that is not float32, or parameters on several devices
	 * @throws ReplicaMismatchException if the ranks' models or settings differ
	 */
	public DistributedDataParallel(ProcessGroup group, Module module, DataParallelSettings settings,
			DeviceCollectives onDevice) {
		this(group, module, settings, onDevice, 0);
	}

	/**
	 * As above, with a few float32 numbers that travel behind the last gradients and are
	 * combined like them, so that they cost no all-reduce of their own.
	 */
	DistributedDataParallel(ProcessGroup group, Module module, DataParallelSettings settings,
			@Nullable DeviceCollectives onDevice, int passengers) {
		this(group, module, settings, passengers, (first) -> ParameterPlace.of(first).memory(group, onDevice));
	}

	/**
	 * @param memory where the gradients lie, by the first parameter that has one
	 */
	DistributedDataParallel(ProcessGroup group, Module module, DataParallelSettings settings, int passengers,
			Function<Tensor, GradientMemory> memory) {
		this.parameters = module.parameters();
		this.parameters.retainReference();
		List<Tensor> distinct = TensorIdentity.distinct(tensors(this.parameters));
		List<Tensor> learning = learning(distinct);
		this.frozen = distinct.stream().filter((parameter) -> !parameter.requires_grad()).toList();
		GradientMemory place = memory.apply(learning.getFirst());
		this.parameterCount = learning.stream().mapToLong(Tensor::numel).sum();
		try (TensorVector moduleBuffers = module.buffers()) {
			List<Tensor> all = new ArrayList<>(tensors(this.parameters));
			all.addAll(tensors(moduleBuffers));
			ReplicaLayout.requireSame(group, all, settings);
			TensorIdentity.distinct(all).forEach((tensor) -> TensorBroadcast.fromRankZero(group, tensor));
		}
		this.buckets = new GradientBuckets(place, learning, settings, passengers);
	}

	/**
	 * Sets all gradients to zero, as a step begins. {@code Optimizer.zero_grad()} does as
	 * well, but makes each gradient be copied into its bucket again.
	 * @throws IllegalStateException if overlap is on and there was a backward pass whose
	 * gradients are not synchronized yet: other ranks may have them already
	 */
	public void zeroGradients() {
		requireOpen();
		this.buckets.zero();
	}

	/**
	 * Waits until every gradient is the combination of all ranks' gradients. A collective
	 * call: every rank makes it once per step, after its backward pass if it has one.
	 * @throws IllegalStateException if overlap is on and a rank made more than one
	 * backward pass since the last call: thrown on every rank, with all gradients zero
	 * and everything ready for the next step. Also, on this rank alone and before it
	 * joins the call, if a parameter requires a gradient that required none when it was
	 * wrapped
	 */
	public void synchronizeGradients() {
		requireOpen();
		this.frozen.forEach(DistributedDataParallel::requireFrozen);
		this.buckets.synchronize();
	}

	/**
	 * The numbers that travel with the gradients: to be written after
	 * {@link #zeroGradients()} and read after {@link #synchronizeGradients()}.
	 */
	MemorySegment passengers() {
		return this.buckets.passengers();
	}

	/** How many values the model learns. */
	public long parameterCount() {
		return this.parameterCount;
	}

	/** How many buckets the gradients lie in. */
	public int bucketCount() {
		return this.buckets.count();
	}

	/** Bytes of gradients that this rank has given to all-reduces. */
	public long allReducedBytes() {
		return this.buckets.allReducedBytes();
	}

	/**
	 * Nanoseconds that {@link #synchronizeGradients()} has taken: communication that did
	 * not hide behind a backward pass.
	 */
	public long waitedNanos() {
		return this.buckets.waitedNanos();
	}

	/**
	 * Gives the buckets' memory back: the parameters keep their values and have no
	 * gradients. Does nothing the second time.
	 */
	@Override
	public void close() {
		if (this.closed) {
			return;
		}
		this.closed = true;
		this.buckets.close();
		this.parameters.releaseReference();
	}

	private void requireOpen() {
		if (this.closed) {
			throw new IllegalStateException("this DistributedDataParallel is closed");
		}
	}

	/** The tensors that gradients are added up for, each once. */
	private static List<Tensor> learning(List<Tensor> parameters) {
		List<Tensor> learning = parameters.stream()
			.filter((parameter) -> parameter.requires_grad() && parameter.numel() > 0)
			.toList();
		if (learning.isEmpty()) {
			throw new IllegalArgumentException("the model has no parameter that requires a gradient and has elements");
		}
		ParameterPlace.requireOne(learning);
		learning.forEach(DistributedDataParallel::requireLeaf);
		return learning;
	}

	private static void requireLeaf(Tensor parameter) {
		if (!parameter.is_leaf()) {
			throw new IllegalArgumentException("a parameter of shape " + ReplicaLayout.shape(parameter)
					+ " is computed from another tensor and has no gradient of its own: register the tensor that it"
					+ " is computed from, or detach it");
		}
	}

	/** A gradient of such a parameter would be reduced by nobody. */
	private static void requireFrozen(Tensor parameter) {
		if (parameter.requires_grad()) {
			throw new IllegalStateException("a parameter of shape " + ReplicaLayout.shape(parameter)
					+ " that required no gradient when it was wrapped requires one now: close this"
					+ " DistributedDataParallel and wrap the model again, or freeze the parameter");
		}
	}

	/** The tensors, which live as long as the vector. */
	private static List<Tensor> tensors(TensorVector vector) {
		return List.of(vector.get());
	}

}
