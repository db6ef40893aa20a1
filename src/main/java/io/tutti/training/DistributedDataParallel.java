package io.tutti.training;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.stream.Collectors;

import io.tutti.DataType;
import io.tutti.ProcessGroup;
import io.tutti.engine.device.DeviceCollectives;
import io.tutti.training.internal.FreedMemory;
import io.tutti.training.internal.ProcessEnd;
import io.tutti.training.internal.TensorIdentity;
import io.tutti.training.internal.TensorMemory;
import org.bytedeco.pytorch.Module;
import org.bytedeco.pytorch.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the replicas of a model identical on all ranks by all-reducing their gradients.
 * <p>
 * The constructor broadcasts rank 0's parameters and buffers. A training step is then
 *
 * <pre>
 * replicas.zeroGradients();
 * loss.backward();
 * replicas.synchronizeGradients();
 * optimizer.step();
 * </pre>
 *
 * Gradients are assigned to buckets of one element type, and each bucket is reduced in
 * place, in the memory into which autograd has written the gradients. The buckets are
 * reduced in the same order on every rank and, if there are cores for it, while the
 * backward pass is still computing the gradients of earlier layers. Until
 * {@link #synchronizeGradients()}, such a gradient reads as NaN, and libtorch refuses to
 * write to it ("more than one element of the written-to tensor refers to a single memory
 * location"). Other gradients, such as those of the last bucket, are this rank's own
 * until then. After the first step the buckets follow the order in which rank 0 has
 * completed its gradients, and gradients that a rank did not compute come last.
 * <p>
 * A rank without samples in a step omits {@code backward()} and contributes zeros. A
 * parameter that a rank's loss does not depend on contributes zeros too. A parameter that
 * no rank's loss depends on has no gradient after the step, as in a single process.
 * Buffers are broadcast by the constructor, by {@link #broadcastBuffers()} and, if the
 * settings say so, at the end of each step; otherwise later changes, such as the running
 * statistics of batch normalization, stay local to the rank.
 * <p>
 * Parameters are float32, float64, float16 or bfloat16, all in main memory or all on one
 * GPU; {@link ModelTensors} takes them from a module, a TorchScript model or any other
 * program. Parameters that require no gradient or have no elements are not reduced. A
 * tensor with several names is one parameter with one gradient; libtorch's
 * {@code parameters()} lists it once per name, and an optimizer that is given that list
 * updates it once per entry. Gradients of a model on a GPU are packed in device memory
 * and reduced there; the initial broadcast goes through main memory. Parameters of the
 * model must not be added, removed or replaced. Close this object before the model runs a
 * backward pass on its own again: until then its autograd hooks stay registered. Not
 * thread-safe: use one thread at a time. A {@link io.tutti.CollectiveException} means
 * that the group is broken.
 * <p>
 * Creating a model loads libtorch. Create the group first, or call
 * {@link io.tutti.engine.javacpp.NativeLibraryPreparation#prepare()}, so that ranks that
 * start together do not unpack libtorch at the same time.
 * <p>
 * The constructor changes two settings of the process: at its end the finalizers of
 * native libraries do not run, and glibc keeps freed blocks of at most 32 MiB instead of
 * returning them to the kernel, unless variables of the environment configure glibc's
 * allocator.
 */
public final class DistributedDataParallel implements AutoCloseable {

	/** The tensors of the model, each as a handle that this object releases. */
	private final List<Tensor> handles = new ArrayList<>();

	private final ProcessGroup group;

	private final DataParallelSettings settings;

	/** {@code null} if the model cannot be wrapped. */
	private @Nullable OpenWrapper wrapper;

	private final List<Parameter> frozen;

	/** The parameters that require a gradient and have no elements. */
	private final List<Tensor> withoutElements;

	/** The frozen and the other parameters, each once. */
	private final List<Parameter> parameters;

	private final ModelChanges changes;

	/** Whether the ranks' values have been compared. */
	private boolean compared;

	/** The buffers of the model, each once. */
	private final List<Tensor> sharedBuffers;

	private final long parameterCount;

	private final GradientBuckets buckets;

	private boolean closed;

	/**
	 * Wraps a model with {@link DataParallelSettings#defaults()}.
	 * @param group the ranks that train together; must outlive this object
	 * @param module the model; the caller keeps ownership
	 * @see #DistributedDataParallel(ProcessGroup, ModelTensors, DataParallelSettings)
	 */
	public DistributedDataParallel(ProcessGroup group, Module module) {
		this(group, module, DataParallelSettings.defaults());
	}

	/**
	 * Wraps a model.
	 * @param group the ranks that train together; must outlive this object
	 * @param module the model; the caller keeps ownership
	 * @param settings the same on every rank
	 * @see #DistributedDataParallel(ProcessGroup, ModelTensors, DataParallelSettings)
	 */
	public DistributedDataParallel(ProcessGroup group, Module module, DataParallelSettings settings) {
		this(group, module, settings, null, 0);
	}

	/**
	 * Wraps a model that may be on a GPU.
	 * @param group the ranks that train together; must outlive this object
	 * @param module the model; the caller keeps ownership
	 * @param settings the same on every rank
	 * @param onDevice device collectives of the group
	 * @see #DistributedDataParallel(ProcessGroup, ModelTensors, DataParallelSettings,
	 * DeviceCollectives)
	 */
	public DistributedDataParallel(ProcessGroup group, Module module, DataParallelSettings settings,
			DeviceCollectives onDevice) {
		this(group, module, settings, onDevice, 0);
	}

	/**
	 * Wraps the tensors of a model. A collective call: every rank wraps its replica at
	 * the same position in the group's order of collectives.
	 * @param group the ranks that train together; must outlive this object
	 * @param model the model; the caller keeps ownership
	 * @param settings the same on every rank
	 * @throws IllegalArgumentException if no parameter requires a gradient and has
	 * elements, or if such a parameter is not a float16, bfloat16, float32 or float64 in
	 * main memory, is computed from another tensor, or is wrapped by another object of
	 * this class that is open; if such an object uses the group and one of both always
	 * overlaps; if a buffer requires a gradient, which would not be reduced; or if
	 * elements of a parameter or buffer share memory, as in an expanded tensor
	 * @throws ReplicaMismatchException if the ranks' models or settings differ
	 */
	public DistributedDataParallel(ProcessGroup group, ModelTensors model, DataParallelSettings settings) {
		this(group, model, settings, null);
	}

	/**
	 * Wraps the tensors of a model that may be on a GPU. A collective call.
	 * @param group the ranks that train together; must outlive this object
	 * @param model the model; the caller keeps ownership
	 * @param settings the same on every rank
	 * @param onDevice device collectives of the group, for the gradients of a model on a
	 * GPU; {@code null} for the CPU
	 * @throws IllegalArgumentException if no parameter requires a gradient and has
	 * elements, if such a parameter has another type than float16, bfloat16, float32 or
	 * float64 or is computed from another tensor, if parameters are on several devices,
	 * or if the model is on a GPU and {@code onDevice} is of another group
	 * @throws ReplicaMismatchException if the ranks' models or settings differ
	 */
	public DistributedDataParallel(ProcessGroup group, ModelTensors model, DataParallelSettings settings,
			@Nullable DeviceCollectives onDevice) {
		this(group, model, null, settings, 0, (first) -> ParameterPlacement.of(first).memory(group, onDevice));
	}

	/**
	 * Wraps a model that may be on a GPU, with a few piggybacked float32 values that are
	 * reduced with the last gradients, such as the loss. A collective call.
	 * @param group the ranks that train together; must outlive this object
	 * @param module the model; the caller keeps ownership
	 * @param settings the same on every rank
	 * @param onDevice device collectives of the group, for the gradients of a model on a
	 * GPU; {@code null} for the CPU
	 * @param piggybackedValues number of values, the same on every rank
	 * @see #DistributedDataParallel(ProcessGroup, ModelTensors, DataParallelSettings,
	 * DeviceCollectives)
	 */
	public DistributedDataParallel(ProcessGroup group, Module module, DataParallelSettings settings,
			@Nullable DeviceCollectives onDevice, int piggybackedValues) {
		this(group, ModelTensors.of(module), module, settings, piggybackedValues,
				(first) -> ParameterPlacement.of(first).memory(group, onDevice));
	}

	/**
	 * @param module of which the tensors are, {@code null} if of none
	 * @param memory creates the gradient memory, given the first parameter that requires
	 * a gradient
	 */
	DistributedDataParallel(ProcessGroup group, ModelTensors model, @Nullable Module module,
			DataParallelSettings settings, int piggybackedValues, Function<Tensor, GradientMemory> memory) {
		ProcessEnd.skipFinalizers();
		FreedMemory.retain();
		this.group = group;
		this.settings = settings;
		List<Parameter> all = new ArrayList<>(retained(model.parameters()));
		List<Parameter> distinct = distinct(all);
		GradientMemory place = null;
		try {
			List<Parameter> learning = learning(distinct);
			OpenWrapper open = OpenWrapper.of(group, learning, settings.overlap());
			this.wrapper = open;
			this.frozen = distinct.stream().filter((parameter) -> !parameter.tensor().requires_grad()).toList();
			this.withoutElements = distinct.stream()
				.map(Parameter::tensor)
				.filter((tensor) -> tensor.requires_grad() && tensor.numel() == 0)
				.toList();
			place = memory.apply(learning.getFirst().tensor());
			this.parameterCount = learning.stream().mapToLong((parameter) -> parameter.tensor().numel()).sum();
			this.parameters = distinct;
			this.changes = new ModelChanges(module, distinct);
			List<Parameter> state = retained(model.buffers());
			requireNoGradients(state, distinct);
			this.sharedBuffers = distinct(state).stream().map(Parameter::tensor).toList();
			all.addAll(state);
			all.forEach(DistributedDataParallel::requireOwnElements);
			ReplicaLayout.requireSame(group, all, settings);
			TensorBroadcast.from(0, group, distinct(all).stream().map(Parameter::tensor).toList());
			boolean overlap = settings.overlap().isUsed(group, place);
			this.buckets = new GradientBuckets(group, place, learning, settings,
					new ReadinessOrder(group, learning.size(), overlap), () -> overlap && open.isAlone(),
					piggybackedValues);
		}
		catch (RuntimeException | Error ex) {
			release();
			if (place != null) {
				place.close();
			}
			throw ex;
		}
	}

	private List<Parameter> retained(Map<String, Tensor> named) {
		return named.entrySet().stream().map((entry) -> {
			Tensor handle = new Tensor(entry.getValue());
			handle.retainReference();
			this.handles.add(handle);
			return new Parameter(entry.getKey(), handle);
		}).toList();
	}

	/** The tensors without duplicates, under their first names. */
	static List<Parameter> distinct(List<Parameter> tensors) {
		return TensorIdentity.distinct(tensors, Parameter::tensor);
	}

	/**
	 * Drops all gradients at the start of a step, so that they are undefined until the
	 * backward pass writes them. {@code Optimizer.zero_grad()} works too.
	 * @throws IllegalStateException if overlap is on and the gradients of a backward pass
	 * are not synchronized yet: other ranks may already have them
	 */
	public void zeroGradients() {
		requireOpen();
		this.buckets.zero();
		dropGradientsWithoutElements();
	}

	/**
	 * Reduces the remaining buckets and waits until every gradient is the combination of
	 * all ranks' gradients. A parameter without elements has no gradient then. A
	 * collective call: every rank makes it once per step, after its backward pass, if
	 * any.
	 * @throws IllegalStateException on every rank, with all gradients dropped and ready
	 * for the next step: if a rank computed a gradient in more than one backward pass
	 * since the last call, unless overlap is {@link Overlap#NEVER}; if gradients are
	 * summed and a rank added to the sum of the step before; or if gradients are averaged
	 * and some ranks added to a gradient of the step before and others had dropped all.
	 * On this rank only: if a gradient was replaced or dropped while it was being
	 * reduced; or, before it joins the call, if a parameter requires a gradient that
	 * required none when it was wrapped. If a parameter has got another type, shape or
	 * device since it was wrapped, requires no gradient any more on this rank but has one
	 * on another, or was replaced in the module or added to it, or if the hook fails,
	 * this rank aborts the group. After a failure of the group or of this rank every
	 * later call fails: this rank's gradients may be its own alone
	 * @throws ReplicaMismatchException on every rank in the first step, if a parameter
	 * does not have the same values on all ranks, also since the optimizer's step was
	 * made before this call
	 */
	public void synchronizeGradients() {
		requireOpen();
		this.frozen.forEach(DistributedDataParallel::requireFrozen);
		this.buckets.synchronize(this.changes);
		dropGradientsWithoutElements();
		if (this.settings.broadcastsBuffers()) {
			TensorBroadcast.from(0, this.group, this.sharedBuffers);
		}
		if (!this.compared) {
			ReplicaLayout.requireSameValues(this.group, this.parameters);
			this.compared = true;
		}
		this.buckets.requireValid();
	}

	/**
	 * Begins a scope in which backward passes accumulate gradients on this rank without
	 * reducing them. The last backward pass of a step is outside the scope, so that its
	 * gradients are reduced while it continues:
	 *
	 * <pre>
	 * try (NoSync _ = replicas.noSync()) {
	 *     first.backward();
	 * }
	 * last.backward();
	 * replicas.synchronizeGradients();
	 * </pre>
	 *
	 * Not a collective call: ranks may make different numbers of passes.
	 * @return the scope; gradients are synchronized again after it is closed
	 * @throws IllegalStateException inside such a scope, or after a backward pass outside
	 * one whose gradients are not synchronized
	 */
	public NoSync noSync() {
		requireOpen();
		this.buckets.accumulate(true);
		AtomicBoolean open = new AtomicBoolean(true);
		return () -> {
			if (open.getAndSet(false)) {
				this.buckets.accumulate(false);
			}
		};
	}

	/**
	 * Replaces the model's buffers by rank 0's, such as the statistics of batch
	 * normalization before an evaluation. A collective call.
	 */
	public void broadcastBuffers() {
		requireOpen();
		TensorBroadcast.from(0, this.group, this.sharedBuffers);
	}

	/**
	 * Limits the 2-norm of all gradients as one vector, after
	 * {@link #synchronizeGradients()}. A collective call: rank 0's norm counts, so that
	 * the replicas stay identical on different processors.
	 * @param maxNorm the largest norm, more than zero
	 * @return the norm before
	 * @throws IllegalStateException on every rank, if the norm is not finite; gradients
	 * keep their values. On this rank only, if gradients are not synchronized
	 */
	public double clipGradientNorm(double maxNorm) {
		if (!(maxNorm > 0) || Double.isInfinite(maxNorm)) {
			throw new IllegalArgumentException("the largest norm must be finite and more than 0, got " + maxNorm);
		}
		requireOpen();
		if (this.buckets.isPending()) {
			throw new IllegalStateException("clipGradientNorm() was called between a backward pass and"
					+ " synchronizeGradients(): call synchronizeGradients() first");
		}
		double[] norm = { this.buckets.norm() };
		this.group.broadcast(MemorySegment.ofArray(norm), DataType.FLOAT64, 0);
		if (!Double.isFinite(norm[0])) {
			throw new IllegalStateException("the norm of the gradients is " + norm[0]
					+ this.buckets.firstNotFinite().map((parameter) -> ", first in " + parameter).orElse("")
					+ ": lower the learning rate, or check the samples of this step");
		}
		if (norm[0] > maxNorm) {
			this.buckets.scale(maxNorm / norm[0]);
		}
		return norm[0];
	}

	/**
	 * The piggybacked float32 values: written after {@link #zeroGradients()} and read
	 * after {@link #synchronizeGradients()}.
	 * @return the values, float32, in main memory
	 */
	public MemorySegment piggybackedValues() {
		return this.buckets.piggybackedValues();
	}

	/**
	 * {@return the number of values in the parameters that require a gradient}
	 */
	public long parameterCount() {
		return this.parameterCount;
	}

	/**
	 * {@return the number of gradient buckets}
	 */
	public int bucketCount() {
		return this.buckets.count();
	}

	/**
	 * {@return bytes of buckets that this rank has passed to all-reduces}
	 */
	public long allReducedBytes() {
		return this.buckets.allReducedBytes();
	}

	/**
	 * {@return nanoseconds spent in {@link #synchronizeGradients()}: communication that
	 * did not overlap with a backward pass}
	 */
	public long waitedNanos() {
		return this.buckets.waitedNanos();
	}

	/**
	 * Removes the hooks. The parameters keep their values and have no gradients.
	 * Idempotent.
	 * @throws IllegalStateException if there were backward passes and no call of
	 * {@link #synchronizeGradients()}, so that each rank has trained a model of its own
	 */
	@Override
	public void close() {
		if (this.closed) {
			return;
		}
		this.closed = true;
		boolean forgotten;
		try {
			forgotten = this.buckets.neverSynchronized();
		}
		finally {
			try {
				this.buckets.close();
			}
			finally {
				release();
			}
		}
		if (forgotten) {
			throw new IllegalStateException(
					"this DistributedDataParallel was closed without any synchronizeGradients(),"
							+ " so each rank's gradients came from its own samples alone: call it after the last backward pass"
							+ " of each step, before the optimizer's step");
		}
	}

	/**
	 * Nothing of them can be reduced, so a rank would not learn that another rank has
	 * one, and the optimizers would count different numbers of steps.
	 */
	private void dropGradientsWithoutElements() {
		this.withoutElements.forEach((tensor) -> tensor.mutable_grad().reset());
	}

	private void release() {
		if (this.wrapper != null) {
			this.wrapper.close();
		}
		this.handles.forEach(Tensor::releaseReference);
	}

	private void requireOpen() {
		if (this.closed) {
			throw new IllegalStateException("this DistributedDataParallel is closed");
		}
	}

	/** The parameters that require a gradient and have elements. */
	private static List<Parameter> learning(List<Parameter> parameters) {
		List<Parameter> learning = parameters.stream()
			.filter((parameter) -> parameter.tensor().requires_grad() && parameter.tensor().numel() > 0)
			.toList();
		if (learning.isEmpty()) {
			throw new IllegalArgumentException("the model has no parameter that requires a gradient and has elements");
		}
		ParameterPlacement.requireOne(learning);
		learning.forEach(DistributedDataParallel::requireLeaf);
		return learning;
	}

	/** The gradient of a buffer would not be reduced. */
	private static void requireNoGradients(List<Parameter> buffers, List<Parameter> parameters) {
		Set<Long> learning = parameters.stream()
			.map((parameter) -> TensorIdentity.identity(parameter.tensor()))
			.collect(Collectors.toSet());
		for (Parameter buffer : buffers) {
			Tensor tensor = buffer.tensor();
			if (tensor.requires_grad() && tensor.is_leaf() && !learning.contains(TensorIdentity.identity(tensor))) {
				throw new IllegalArgumentException("buffer " + buffer.name() + " of shape " + TensorMemory.shape(tensor)
						+ " requires a gradient, which is not reduced: register it as a"
						+ " parameter, or let it require none");
			}
		}
	}

	/** Elements that share memory cannot be replaced by rank 0's. */
	private static void requireOwnElements(Parameter any) {
		Tensor tensor = any.tensor();
		if (TensorMemory.sharesElements(tensor)) {
			throw new IllegalArgumentException("elements of tensor " + any.name() + " of shape "
					+ TensorMemory.shape(tensor) + " share memory or may do so, by its strides "
					+ TensorMemory.joined(TensorMemory.strides(tensor)) + ": register a clone of it");
		}
	}

	private static void requireLeaf(Parameter parameter) {
		if (!parameter.tensor().is_leaf()) {
			throw new IllegalArgumentException(parameter
					+ " is computed from another tensor and has no gradient of its own: register the tensor that it"
					+ " is computed from, or detach it");
		}
	}

	/** A scope of backward passes that are not synchronized. */
	public interface NoSync extends AutoCloseable {

		/** Ends the scope; further calls have no effect. */
		@Override
		void close();

	}

	/** The gradient of such a parameter would not be reduced. */
	private static void requireFrozen(Parameter parameter) {
		if (parameter.tensor().requires_grad()) {
			throw new IllegalStateException(
					parameter + " required no gradient when it was wrapped and requires one now: close this"
							+ " DistributedDataParallel and wrap the model again, or freeze the parameter");
		}
	}

}
