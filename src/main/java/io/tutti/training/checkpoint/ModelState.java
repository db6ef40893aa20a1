package io.tutti.training.checkpoint;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

import io.tutti.ProcessGroup;
import io.tutti.training.ModelTensors;
import io.tutti.training.ShardedOptimizer;
import io.tutti.training.TrainingDevice;
import io.tutti.training.internal.TensorIdentity;
import io.tutti.training.internal.TensorMemory;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.NoGradGuard;
import org.bytedeco.pytorch.Optimizer;
import org.bytedeco.pytorch.OptimizerParamGroupVector;
import org.bytedeco.pytorch.Tensor;
import org.jspecify.annotations.Nullable;

/**
 * A model's parameters and buffers by name, and its optimizer. Copies them to staging
 * memory, which is allocated once, and replaces their values. A {@link CheckpointStore}
 * writes that copy while training goes on, so it needs a state of its own: a second store
 * and a {@link StateBroadcast} get another one of the same model and optimizer.
 */
public final class ModelState implements AutoCloseable {

	private static final int ALIGNMENT = 64;

	private final Map<String, Tensor> tensors = new LinkedHashMap<>();

	private final List<TensorHeader> headers = new ArrayList<>();

	/** Names of the parameters by their keys in an archive of the optimizer. */
	private final Map<String, String> parameters = new LinkedHashMap<>();

	/** This rank's optimizer; {@code null} if its part is empty. */
	private final @Nullable Optimizer optimizer;

	/** Names of the parameters that this rank's optimizer updates. */
	private final Set<String> updated;

	/** The other ranks' parts; {@code null} if the optimizer is whole. */
	private final @Nullable ShardedOptimizerGather parts;

	private final String device;

	private final Arena arena = Arena.ofShared();

	private final OptimizerTensors.ArchiveMemory archive = new OptimizerTensors.ArchiveMemory();

	private @Nullable List<StoredTensor> staged;

	private boolean claimed;

	/**
	 * The state of a model that stays on its device.
	 * @param model the tensors of the model, which stay open until this is closed
	 * @param optimizer its optimizer; must outlive this object
	 * @param device where both are
	 * @throws IllegalArgumentException if a safetensors file cannot hold the type of a
	 * tensor, two tensors have one name, or the optimizer updates a tensor that is no
	 * parameter of the model
	 */
	public ModelState(ModelTensors model, Optimizer optimizer, TrainingDevice device) {
		this(model, optimizer, null, device, null);
	}

	/**
	 * The state of a model whose optimizer is divided among the ranks (ZeRO stage 1).
	 * Checkpoints hold the whole state by name, so that any number of ranks continue from
	 * them, with a divided or a whole optimizer. Rank 0 holds the whole state in memory
	 * while it writes it, and every rank calls {@link CheckpointStore#save}.
	 * @param group the ranks among which the optimizer is divided
	 * @param model the tensors of the model, which stay open until this is closed
	 * @param optimizer its optimizer; must outlive this object
	 * @param device where both are
	 * @throws IllegalArgumentException if a safetensors file cannot hold the type of a
	 * tensor, two tensors have one name, or the optimizer updates a tensor that is no
	 * parameter of the model
	 */
	public ModelState(ProcessGroup group, ModelTensors model, ShardedOptimizer optimizer, TrainingDevice device) {
		this(model, optimizer.local(), optimizer.ownParameters(), device, new ShardedOptimizerGather(group));
	}

	private ModelState(ModelTensors model, @Nullable Optimizer optimizer, @Nullable List<Tensor> own,
			TrainingDevice device, @Nullable ShardedOptimizerGather parts) {
		this.optimizer = optimizer;
		this.parts = parts;
		this.device = device.toString();
		model.parameters().forEach((name, tensor) -> {
			add(name, tensor);
			this.parameters.putIfAbsent(id(tensor), name);
		});
		model.buffers().forEach(this::add);
		this.updated = (own == null) ? Set.copyOf(this.parameters.values())
				: own.stream().map((tensor) -> this.parameters.get(id(tensor))).collect(Collectors.toSet());
		if (optimizer != null) {
			requireNamed(optimizer.param_groups());
		}
	}

	/**
	 * Checks before training that a checkpoint can hold the tensors of a model.
	 * @param model the tensors of the model
	 * @throws IllegalArgumentException if a safetensors file cannot hold the type of one;
	 * the message names it
	 */
	public static void requireStorable(ModelTensors model) {
		model.parameters().forEach(ElementType::of);
		model.buffers().forEach(ElementType::of);
	}

	/** The state of another tensor would have no name in a checkpoint. */
	private void requireNamed(OptimizerParamGroupVector groups) {
		for (long group = 0; group < groups.size(); group++) {
			for (Tensor parameter : groups.get(group).params().get()) {
				if (!this.parameters.containsKey(id(parameter))) {
					throw new IllegalArgumentException("the optimizer updates a tensor of shape "
							+ TensorMemory.shape(parameter) + " that is no parameter of the model");
				}
			}
		}
	}

	/**
	 * Reserves the staging memory for a store, whose thread reads it.
	 * @throws IllegalStateException if another store has it
	 */
	void claim() {
		requireUnclaimed();
		this.claimed = true;
	}

	/** Requires that no store reads the staging memory. */
	void requireUnclaimed() {
		if (this.claimed) {
			throw new IllegalStateException(
					"a CheckpointStore uses this ModelState; create another one of the same model and optimizer");
		}
	}

	/**
	 * Whether the optimizer is divided, so that {@link #stage()} is a collective call.
	 */
	boolean isDivided() {
		return this.parts != null;
	}

	/** Type of the optimizer, such as {@code SGD}. */
	String optimizerType() {
		return (this.optimizer != null) ? this.optimizer.getClass().getSimpleName() : "";
	}

	/**
	 * Copies the state, which no store uses; the copy is valid until the next call. A
	 * collective call if the optimizer is divided.
	 */
	void stage() {
		requireUnclaimed();
		stage(() -> {
		}, true);
	}

	/**
	 * Copies the state after an action of this rank. If the optimizer is divided, a
	 * failure of either is one of every rank.
	 * @param withModel whether to copy the model, which is the same on every rank
	 */
	void stage(Runnable before, boolean withModel) {
		if (this.parts == null) {
			before.run();
			copy(withModel);
			return;
		}
		try (PointerScope _ = new PointerScope()) {
			this.parts.collect(() -> {
				before.run();
				copy(withModel);
				return ownOptimizer();
			});
		}
	}

	private void copy(boolean withModel) {
		if (withModel) {
			copyModel();
		}
		if (this.optimizer != null) {
			OptimizerTensors.save(this.optimizer, this.archive);
		}
	}

	private void copyModel() {
		if (this.staged == null) {
			this.staged = this.headers.stream()
				.map((header) -> new StoredTensor(header, this.arena.allocate(header.bytes(), ALIGNMENT)))
				.toList();
		}
		try (PointerScope _ = new PointerScope()) {
			for (StoredTensor copy : this.staged) {
				StoredTensor values = StoredTensor.of(copy.header().name(), this.tensors.get(copy.header().name()));
				if (!values.header().equals(copy.header())) {
					throw new IllegalStateException("the model's " + copy.header().name() + " has become "
							+ values.header().describe() + " instead of " + copy.header().describe()
							+ ": create its ModelState after the last change of a type or shape");
				}
				copy.data().copyFrom(values.data());
			}
		}
	}

	/**
	 * Size of an optimizer's state as libtorch saves it: its tensors and a few kilobytes
	 * for each parameter.
	 * @param optimizer the optimizer, {@code null} for none
	 * @return bytes, 0 without an optimizer
	 */
	public static long optimizerBytes(@Nullable Optimizer optimizer) {
		return (optimizer != null) ? OptimizerTensors.archiveBytes(optimizer) : 0;
	}

	private List<StoredTensor> ownOptimizer() {
		return (this.optimizer != null) ? OptimizerTensors.read(this.archive.content(), this.parameters) : List.of();
	}

	/** The copied parameters and buffers. */
	List<StoredTensor> stagedModel() {
		return (this.staged != null) ? this.staged : List.of();
	}

	/**
	 * The copied tensors of the optimizer. Their data belongs to the surrounding
	 * {@link PointerScope}.
	 */
	List<StoredTensor> stagedOptimizer() {
		if (this.parts == null) {
			return ownOptimizer();
		}
		List<List<StoredTensor>> all = new ArrayList<>();
		all.add(ownOptimizer());
		all.addAll(this.parts.received());
		return ParameterGroups.joined(all);
	}

	/** What prevents this state from taking other values; {@code null} if nothing. */
	@Nullable String obstacle(String otherOptimizer, List<TensorHeader> model, List<TensorHeader> optimizerTensors) {
		Map<String, TensorHeader> others = new LinkedHashMap<>();
		model.forEach((header) -> others.put(header.name(), header));
		for (TensorHeader header : this.headers) {
			TensorHeader other = others.remove(header.name());
			if (!header.equals(other)) {
				return "it has " + ((other != null) ? header.name() + " as " + other.describe() : "no " + header.name())
						+ ", this job has " + header.name() + " as " + header.describe();
			}
		}
		if (!others.isEmpty()) {
			return "it has " + others.keySet().iterator().next() + ", which this job's model lacks";
		}
		if (!otherOptimizer.equals(optimizerType())) {
			return "it has the optimizer " + otherOptimizer + ", this job has " + optimizerType();
		}
		return OptimizerTensors.obstacle(optimizerTensors, parameterHeaders());
	}

	private List<TensorHeader> parameterHeaders() {
		Set<String> names = Set.copyOf(this.parameters.values());
		return this.headers.stream().filter((header) -> names.contains(header.name())).toList();
	}

	/** Replaces the values of a parameter or buffer. */
	void restore(StoredTensor stored) {
		if (stored.data().byteSize() == 0) {
			return;
		}
		try (NoGradGuard _ = new NoGradGuard(); Tensor values = stored.view()) {
			this.tensors.get(stored.header().name()).copy_(values);
		}
	}

	/**
	 * Whether this rank's optimizer has a place for a tensor of an optimizer's state, if
	 * it is divided.
	 */
	boolean updates(TensorHeader header) {
		return this.parts == null || ParameterGroups.isPart(header)
				|| this.updated.contains(OptimizerTensors.parameter(header));
	}

	/**
	 * Replaces the optimizer's state, unless it has a state of a parameter that the other
	 * lacks.
	 * @return what prevents it, in which case nothing changes; {@code null} if nothing
	 * @throws IllegalArgumentException if the optimizer has no place for the other state
	 */
	@Nullable String restoreOptimizer(List<StoredTensor> stored) {
		if (this.optimizer == null) {
			return null;
		}
		List<StoredTensor> own = stored.stream().filter((tensor) -> updates(tensor.header())).toList();
		String surplus = OptimizerTensors.load(this.optimizer, own, this.parameters, this.device);
		return (surplus != null) ? "the optimizer has a state of " + surplus
				+ ", which the other state lacks: restore into a new optimizer" : null;
	}

	/** Frees the staging memory, once. */
	@Override
	public void close() {
		if (!this.arena.scope().isAlive()) {
			return;
		}
		if (this.parts != null) {
			this.parts.close();
		}
		this.archive.close();
		this.arena.close();
	}

	private void add(String name, Tensor tensor) {
		if (this.tensors.put(name, tensor) != null) {
			throw new IllegalArgumentException("a parameter and a buffer of the model are named " + name);
		}
		this.headers.add(TensorHeader.of(name, tensor));
	}

	/** Key of a parameter in an archive. */
	private static String id(Tensor tensor) {
		return Long.toString(TensorIdentity.identity(tensor));
	}

}
