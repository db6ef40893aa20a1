package io.tutti.training;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.tutti.BackendUnavailableException;
import io.tutti.ExitCode;
import io.tutti.ProcessGroup;
import io.tutti.training.internal.TensorMemory;
import org.bytedeco.pytorch.Optimizer;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.TensorVector;
import org.jspecify.annotations.Nullable;

/**
 * An optimizer whose state is divided among the ranks. Each rank updates its part of the
 * parameters and broadcasts them, so that it holds only that part's state, such as the
 * two moments of Adam. The parameters are the same as with a whole optimizer on every
 * rank. This is stage 1 of S. Rajbhandari et al., "ZeRO: Memory Optimizations Toward
 * Training Trillion Parameter Models", SC 2020: a step sends each parameter once, in
 * addition to the gradients' all-reduce.
 * <p>
 * Use it after {@link DistributedDataParallel#synchronizeGradients()}. Not thread-safe.
 */
public final class ShardedOptimizer implements AutoCloseable {

	private final ProcessGroup group;

	/** The parameters by the rank that updates them. */
	private final List<List<Tensor>> parts;

	private final @Nullable Optimizer local;

	private final List<Tensor> handles = new ArrayList<>();

	/** To be compared with the other ranks'; {@code null} from the first step on. */
	private @Nullable String layout;

	private long waitedNanos;

	/**
	 * Divides the parameters that require a gradient, so that the ranks' parts are about
	 * equal in bytes. Not a collective call, but every rank creates it from the same
	 * parameters, which the first {@link #step()} compares.
	 * @param group the ranks; must outlive this object
	 * @param model the model that the ranks train
	 * @param optimizer creates this rank's optimizer for its part; not called for a rank
	 * whose part is empty. This object closes it
	 * @throws IllegalArgumentException if no parameter requires a gradient
	 * @throws BackendUnavailableException in an elastic group, since a lost rank takes
	 * its part of the state with it
	 */
	public ShardedOptimizer(ProcessGroup group, ModelTensors model, Function<TensorVector, Optimizer> optimizer) {
		if (group.isElastic()) {
			throw BackendUnavailableException
				.inElasticJob(group.backend(),
						"an optimizer divided among the ranks (ZeRO-1) loses the state of each lost rank",
						"Use a whole optimizer on every rank, or unset tutti.elastic.min-ranks")
				.onRank(group.rank(), group.worldSize());
		}
		this.group = group;
		List<Parameter> learning = DistributedDataParallel
			.distinct(model.parameters()
				.entrySet()
				.stream()
				.map((entry) -> new Parameter(entry.getKey(), entry.getValue()))
				.toList())
			.stream()
			.filter((parameter) -> parameter.tensor().requires_grad() && parameter.tensor().numel() > 0)
			.toList();
		if (learning.isEmpty()) {
			throw new IllegalArgumentException("the model has no parameter that requires a gradient and has elements");
		}
		this.layout = ReplicaLayout.describe(learning, " in a divided optimizer");
		this.parts = divided(learning.stream().map((parameter) -> retained(parameter.tensor())).toList(),
				group.worldSize());
		List<Tensor> own = this.parts.get(group.rank());
		this.local = own.isEmpty() ? null : created(optimizer, own);
	}

	private Optimizer created(Function<TensorVector, Optimizer> factory, List<Tensor> own) {
		try {
			Optimizer created = Objects.requireNonNull(factory.apply(new TensorVector(own.toArray(new Tensor[0]))),
					"the function returned no optimizer");
			created.retainReference();
			return created;
		}
		catch (RuntimeException | Error ex) {
			this.handles.forEach(Tensor::releaseReference);
			throw ex;
		}
	}

	private Tensor retained(Tensor tensor) {
		Tensor handle = new Tensor(tensor);
		handle.retainReference();
		this.handles.add(handle);
		return handle;
	}

	/**
	 * The parameters, the largest first, go to the rank with the fewest bytes. Those that
	 * share memory stay together: otherwise one rank's update would replace another's.
	 */
	private static List<List<Tensor>> divided(List<Tensor> tensors, int ranks) {
		long[] bytes = new long[ranks];
		List<List<Tensor>> parts = new ArrayList<>();
		IntStream.range(0, ranks).forEach((_) -> parts.add(new ArrayList<>()));
		for (List<Tensor> together : sharing(tensors).stream()
			.sorted(Comparator.<List<Tensor>>comparingLong(ShardedOptimizer::bytes).reversed())
			.toList()) {
			int least = IntStream.range(0, ranks)
				.boxed()
				.min(Comparator.comparingLong((rank) -> bytes[rank]))
				.orElseThrow();
			parts.get(least).addAll(together);
			bytes[least] += bytes(together);
		}
		return parts;
	}

	/**
	 * Lists of tensors that share memory, in the model's order: addresses differ between
	 * ranks.
	 */
	private static Collection<List<Tensor>> sharing(List<Tensor> tensors) {
		Map<Tensor, Integer> memories = new IdentityHashMap<>();
		long end = 0;
		int memory = 0;
		for (Tensor tensor : tensors.stream().sorted(Comparator.comparingLong(TensorMemory::address)).toList()) {
			memory += (TensorMemory.address(tensor) >= end) ? 1 : 0;
			memories.put(tensor, memory);
			end = Math.max(end, TensorMemory.end(tensor));
		}
		return tensors.stream()
			.collect(Collectors.groupingBy(memories::get, LinkedHashMap::new, Collectors.toList()))
			.values();
	}

	private static long bytes(List<Tensor> tensors) {
		return tensors.stream().mapToLong((tensor) -> tensor.numel() * tensor.element_size()).sum();
	}

	/**
	 * Updates this rank's part and gets the other ranks' parts. A collective call. If
	 * this rank's update fails, the group is aborted. After a failure the parameters of a
	 * rank may be a mixture of both steps: restore them.
	 * @throws IllegalStateException after {@link #close()}
	 * @throws ReplicaMismatchException on every rank in the first step, before it changes
	 * any parameter, if the names, types, shapes or strides of the ranks' parameters
	 * differ
	 */
	public void step() {
		if (this.handles.isEmpty()) {
			throw new IllegalStateException("this ShardedOptimizer is closed");
		}
		if (this.layout != null) {
			ReplicaLayout.requireSame(this.group, this.layout);
			this.layout = null;
		}
		if (this.local != null) {
			try {
				this.local.step();
			}
			catch (RuntimeException | Error ex) {
				this.group.abort(ExitCode.PEER_LOST, "rank " + this.group.rank() + ": the optimizer failed: " + ex);
				throw ex;
			}
		}
		long start = System.nanoTime();
		for (int rank = 0; rank < this.parts.size(); rank++) {
			if (!this.parts.get(rank).isEmpty()) {
				TensorBroadcast.from(rank, this.group, this.parts.get(rank));
			}
		}
		this.waitedNanos += System.nanoTime() - start;
	}

	/**
	 * {@return the total time in nanoseconds in which steps have exchanged the updated
	 * parameters}
	 */
	public long waitedNanos() {
		return this.waitedNanos;
	}

	/**
	 * {@return this rank's optimizer, for its learning rate or its state; {@code null} if
	 * its part is empty}
	 */
	public @Nullable Optimizer local() {
		return this.local;
	}

	/**
	 * {@return the parameters that this rank's optimizer updates; valid until
	 * {@link #close()}}
	 */
	public List<Tensor> ownParameters() {
		return List.copyOf(this.parts.get(this.group.rank()));
	}

	/**
	 * {@return the number of values that this rank's optimizer updates and has state for}
	 */
	public long ownValues() {
		return this.parts.get(this.group.rank()).stream().mapToLong(Tensor::numel).sum();
	}

	/**
	 * {@return the number of values that all ranks' optimizers update}
	 */
	public long allValues() {
		return this.handles.stream().mapToLong(Tensor::numel).sum();
	}

	/** Frees this rank's state; the parameters keep their values. Idempotent. */
	@Override
	public void close() {
		if (!this.handles.isEmpty()) {
			if (this.local != null) {
				this.local.releaseReference();
			}
			this.handles.forEach(Tensor::releaseReference);
			this.handles.clear();
		}
	}

}
