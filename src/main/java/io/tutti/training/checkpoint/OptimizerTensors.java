package io.tutti.training.checkpoint;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.tutti.training.internal.TensorMemory;
import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.javacpp.PointerScope;
import org.bytedeco.pytorch.ArchiveWriter;
import org.bytedeco.pytorch.Device;
import org.bytedeco.pytorch.DeviceOptional;
import org.bytedeco.pytorch.IValue;
import org.bytedeco.pytorch.IValueVector;
import org.bytedeco.pytorch.InputArchive;
import org.bytedeco.pytorch.Optimizer;
import org.bytedeco.pytorch.OutputArchive;
import org.bytedeco.pytorch.StringVector;
import org.bytedeco.pytorch.Tensor;
import org.bytedeco.pytorch.Tuple;
import org.jspecify.annotations.Nullable;

/**
 * An optimizer's state as named tensors: {@code optimizer.exp_avg.<parameter>}, and those
 * of its {@link ParameterGroups}. libtorch gives access to the state only through its
 * archive, in which a parameter's key is its address.
 */
final class OptimizerTensors {

	static final String PREFIX = "optimizer.";

	private static final String VERSION = "pytorch_version";

	private static final String STATE = "state";

	private static final String GROUPS = "param_groups";

	private static final String OPTIONS = "options";

	private static final int ALIGNMENT = 64;

	private OptimizerTensors() {
	}

	/** Copies the state into memory, in the format of libtorch's archive. */
	static void save(Optimizer optimizer, ArchiveMemory memory) {
		try (OutputArchive archive = new OutputArchive()) {
			optimizer.save(archive);
			save(archive, memory);
		}
	}

	/** Size of the state in bytes, in the format of libtorch's archive. */
	static long archiveBytes(Optimizer optimizer) {
		try (OutputArchive archive = new OutputArchive(); ArchiveMemory memory = new ArchiveMemory()) {
			optimizer.save(archive);
			write(archive, memory);
			return memory.size;
		}
	}

	/** In the second attempt the memory has exactly the size of the archive. */
	private static void save(OutputArchive archive, ArchiveMemory memory) {
		do {
			write(archive, memory);
		}
		while (memory.hasGrown());
	}

	/**
	 * One at a time in this process: JavaCPP assigns a callback's native function without
	 * a lock (bytedeco/javacpp issue 486), so that two threads could write into one
	 * memory.
	 */
	private static void write(OutputArchive archive, ArchiveMemory memory) {
		memory.clear();
		synchronized (Writer.class) {
			try (Writer writer = new Writer(memory)) {
				archive.save_to(writer);
				writer.requireAll();
			}
		}
	}

	/**
	 * Reads the tensors of an archive. The data belongs to the surrounding
	 * {@link PointerScope}.
	 * @param parameters names of the parameters by their keys in the archive
	 * @throws IllegalArgumentException if the state holds a value that is neither a
	 * tensor nor a number
	 */
	static List<StoredTensor> read(MemorySegment bytes, Map<String, String> parameters) {
		return read(open(bytes, "cpu"), parameters);
	}

	private static List<StoredTensor> read(InputArchive archive, Map<String, String> parameters) {
		List<StoredTensor> tensors = new ArrayList<>();
		InputArchive state = child(archive, STATE);
		for (String id : keys(state)) {
			InputArchive values = child(state, id);
			for (String key : keys(values)) {
				add(tensors, PREFIX + key + "." + parameters.get(id), value(values, key));
			}
		}
		InputArchive groups = child(archive, GROUPS);
		for (int group = 0; group < size(groups, GROUPS); group++) {
			InputArchive archived = child(groups, GROUPS + "/" + group);
			InputArchive options = child(archived, OPTIONS);
			for (String key : keys(options)) {
				add(tensors, ParameterGroups.option(group, key), value(options, key));
			}
			for (String parameter : parameters(archived, parameters)) {
				tensors.add(number(ParameterGroups.groupOf(parameter), group));
			}
		}
		return tensors;
	}

	/**
	 * What prevents an optimizer from taking a state; {@code null} if nothing. A tensor
	 * of another shape than its parameter's would be broadcast in a step.
	 * @param parameters the optimizer's parameters
	 */
	static @Nullable String obstacle(List<TensorHeader> state, List<TensorHeader> parameters) {
		Map<String, TensorHeader> byName = new HashMap<>();
		parameters.forEach((parameter) -> byName.put(parameter.name(), parameter));
		for (TensorHeader header : state) {
			StateKey stateKey = StateKey.of(header.name());
			TensorHeader parameter = byName.get(stateKey.owner());
			boolean fits = ParameterGroups.isOption(header.name()) || parameter != null
					&& (header.shape().equals(parameter.shape()) || isCount(header.type(), header.shape().size()));
			if (!fits) {
				return "its " + header.name() + " of type " + header.describe() + " fits no parameter of this job";
			}
		}
		return null;
	}

	/** The parameter of a tensor that is not an option of a group. */
	static String parameter(TensorHeader header) {
		return StateKey.of(header.name()).owner();
	}

	/**
	 * Loads a state onto a device, unless the optimizer has a state of a parameter that
	 * the other lacks: libtorch cannot remove it.
	 * @param parameters names of the optimizer's parameters by their keys in its archive
	 * @return the name of such a parameter, in which case nothing is loaded; {@code null}
	 * if there is none
	 * @throws IllegalArgumentException if the tensors are not those of this optimizer
	 */
	static @Nullable String load(Optimizer optimizer, List<StoredTensor> tensors, Map<String, String> parameters,
			String device) {
		Map<String, Tensor> byName = new LinkedHashMap<>();
		try (PointerScope _ = new PointerScope();
				Arena arena = Arena.ofConfined();
				ArchiveMemory memory = new ArchiveMemory()) {
			tensors.forEach((tensor) -> byName.put(tensor.header().name(), tensor.inNative(arena).view()));
			save(optimizer, memory);
			InputArchive own = open(memory.content(), "cpu");
			String surplus = surplus(read(own, parameters), tensors);
			if (surplus != null) {
				return surplus;
			}
			OutputArchive archive = withValues(own, byName, parameters);
			if (!byName.isEmpty()) {
				throw new IllegalArgumentException(
						"the optimizer has no place for " + byName.keySet().iterator().next());
			}
			save(archive, memory);
			optimizer.load(open(memory.content(), device));
			return null;
		}
	}

	private static @Nullable String surplus(List<StoredTensor> own, List<StoredTensor> other) {
		Set<String> kept = owners(own.stream());
		kept.removeAll(owners(own.stream().filter(OptimizerTensors::isBeforeFirstStep)));
		kept.removeAll(owners(other.stream()));
		return kept.stream().findFirst().orElse(null);
	}

	private static Set<String> owners(Stream<StoredTensor> tensors) {
		return tensors.map(StoredTensor::header)
			.filter((header) -> !ParameterGroups.isPart(header))
			.map(OptimizerTensors::parameter)
			.collect(Collectors.toCollection(TreeSet::new));
	}

	/** Whether a tensor counts the steps of its parameter, none so far, as of Adagrad. */
	private static boolean isBeforeFirstStep(StoredTensor tensor) {
		return isCount(tensor.header().type(), tensor.header().shape().size())
				&& tensor.data().get(ValueLayout.JAVA_LONG_UNALIGNED, 0) == 0;
	}

	/**
	 * A copy of an archive with the values of tensors, which are removed from the map.
	 */
	private static OutputArchive withValues(InputArchive own, Map<String, Tensor> byName,
			Map<String, String> parameters) {
		OutputArchive archive = new OutputArchive();
		archive.write(VERSION, value(own, VERSION));
		ParameterGroups saved = new ParameterGroups(byName);
		OutputArchive state = new OutputArchive(archive.compilation_unit());
		Set<String> owners = Set.copyOf(parameters.values());
		Map<String, Map<String, Tensor>> byParameter = new HashMap<>();
		for (String name : List.copyOf(byName.keySet())) {
			StateKey stateKey = StateKey.of(name);
			if (owners.contains(stateKey.owner())) {
				byParameter.computeIfAbsent(stateKey.owner(), (_) -> new LinkedHashMap<>())
					.put(stateKey.key(), byName.remove(name));
			}
		}
		parameters.forEach((id, name) -> writeState(state, id, byParameter.getOrDefault(name, Map.of())));
		archive.write(STATE, state);
		OutputArchive groups = new OutputArchive(archive.compilation_unit());
		InputArchive ownGroups = child(own, GROUPS);
		groups.write(GROUPS + "/size", tensor(ownGroups, GROUPS + "/size"));
		for (int index = 0; index < size(ownGroups, GROUPS); index++) {
			String key = GROUPS + "/" + index;
			InputArchive group = child(ownGroups, key);
			groups.write(key, group(archive, group, index, saved.options(parameters(group, parameters))));
		}
		archive.write(GROUPS, groups);
		return archive;
	}

	private static void writeState(OutputArchive state, String id, Map<String, Tensor> values) {
		if (values.isEmpty()) {
			return;
		}
		OutputArchive archive = new OutputArchive(state.compilation_unit());
		values.forEach((key, tensor) -> archive.write(key, isCount(ElementType.of(key, tensor), tensor.dim())
				? new IValue(tensor.item_long()) : new IValue(tensor)));
		state.write(id, archive);
	}

	/** A number of steps. The tensors of a state have the parameter's floating type. */
	private static boolean isCount(ElementType type, long dimensions) {
		return type == ElementType.I64 && dimensions == 0;
	}

	/** Names of the parameters of an archived group. */
	private static List<String> parameters(InputArchive group, Map<String, String> names) {
		List<String> parameters = new ArrayList<>();
		for (int index = 0; index < size(group, "params"); index++) {
			String name = names.get(value(group, "params/" + index).toStringRef().getString());
			if (name != null) {
				parameters.add(name);
			}
		}
		return parameters;
	}

	/**
	 * A copy of an archived group with other options.
	 * @param saved the options, {@code null} to keep its own
	 */
	private static OutputArchive group(OutputArchive parent, InputArchive own, int index,
			@Nullable Map<String, Tensor> saved) {
		OutputArchive group = new OutputArchive(parent.compilation_unit());
		group.write("params/size", tensor(own, "params/size"));
		for (int parameter = 0; parameter < size(own, "params"); parameter++) {
			group.write("params/" + parameter, value(own, "params/" + parameter));
		}
		InputArchive ownOptions = child(own, OPTIONS);
		OutputArchive options = new OutputArchive(parent.compilation_unit());
		List<String> keys = keys(ownOptions);
		for (String key : keys) {
			options.write(key,
					(saved != null) ? option(saved, index, key, value(ownOptions, key)) : value(ownOptions, key));
		}
		if (saved != null && !keys.containsAll(saved.keySet())) {
			throw new IllegalArgumentException("the optimizer has other options than " + saved.keySet());
		}
		group.write(OPTIONS, options);
		return group;
	}

	private static IValue option(Map<String, Tensor> saved, int index, String key, IValue own) {
		String name = ParameterGroups.option(index, key);
		Tensor tensor = saved.get(key);
		if (tensor == null) {
			throw new IllegalArgumentException("there is no " + name);
		}
		return like(own, tensor, name);
	}

	/** A tensor's value as the type of another value. */
	private static IValue like(IValue other, Tensor tensor, String name) {
		if (other.isTuple()) {
			IValueVector elements = new IValueVector();
			for (long index = 0; index < tensor.numel(); index++) {
				elements.push_back(new IValue(tensor.view(-1).get(index).item_double()));
			}
			return new IValue(Tuple.create(elements));
		}
		if (tensor.dim() != 0) {
			throw new IllegalArgumentException(name + " is not a scalar");
		}
		if (other.isBool()) {
			return new IValue(tensor.item_bool());
		}
		return other.isInt() ? new IValue(tensor.item_long()) : new IValue(tensor.item_double());
	}

	private static void add(List<StoredTensor> tensors, String name, IValue value) {
		if (value.isNone() || (value.isTensor() && !value.toTensor().defined())) {
			return;
		}
		tensors.add(value.isTensor() ? StoredTensor.of(name, value.toTensor()) : number(name, value));
	}

	private static StoredTensor number(String name, IValue value) {
		if (value.isBool()) {
			return new StoredTensor(new TensorHeader(name, ElementType.BOOL, List.of()),
					MemorySegment.ofArray(new byte[] { (byte) (value.toBool() ? 1 : 0) }));
		}
		if (value.isInt()) {
			return number(name, value.toInt());
		}
		if (value.isDouble()) {
			return new StoredTensor(new TensorHeader(name, ElementType.F64, List.of()),
					littleEndian(Double.doubleToRawLongBits(value.toDouble())));
		}
		if (value.isTuple()) {
			Tuple tuple = value.toTuple();
			long[] bits = new long[Math.toIntExact(tuple.size())];
			Arrays.setAll(bits, (index) -> Double.doubleToRawLongBits(tuple.elements().get(index).toDouble()));
			return new StoredTensor(new TensorHeader(name, ElementType.F64, List.of((long) bits.length)),
					littleEndian(bits));
		}
		throw new IllegalArgumentException(
				name + " is a value of type " + value.tagKind().getString() + ", which a checkpoint cannot hold");
	}

	/** A whole number as a scalar. */
	static StoredTensor number(String name, long value) {
		return new StoredTensor(new TensorHeader(name, ElementType.I64, List.of()), littleEndian(value));
	}

	private static MemorySegment littleEndian(long... values) {
		ByteBuffer bytes = ByteBuffer.allocate(values.length * Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
		bytes.asLongBuffer().put(values);
		return MemorySegment.ofArray(bytes.array());
	}

	private static InputArchive open(MemorySegment bytes, String device) {
		InputArchive archive = new InputArchive();
		archive.load_from(new BytePointer(TensorMemory.pointer(bytes)), bytes.byteSize(),
				new DeviceOptional(new Device(device)));
		return archive;
	}

	private static List<String> keys(InputArchive archive) {
		List<String> keys = new ArrayList<>();
		StringVector names = archive.keys();
		for (long index = 0; index < names.size(); index++) {
			keys.add(names.get(index).getString());
		}
		return keys;
	}

	private static InputArchive child(InputArchive archive, String key) {
		InputArchive child = new InputArchive();
		archive.read(key, child);
		return child;
	}

	private static IValue value(InputArchive archive, String key) {
		IValue value = new IValue();
		archive.read(key, value);
		return value;
	}

	private static Tensor tensor(InputArchive archive, String key) {
		return value(archive, key).toTensor();
	}

	private static long size(InputArchive archive, String list) {
		return tensor(archive, list + "/size").item_long();
	}

	/**
	 * The parts of a name.
	 *
	 * @param key key of the value, such as {@code exp_avg}
	 * @param owner parameter
	 */
	private record StateKey(String key, String owner) {

		static StateKey of(String name) {
			int from = name.startsWith(PREFIX) ? PREFIX.length() : 0;
			int end = Math.max(from, name.indexOf('.', from));
			return new StateKey(name.substring(from, end), name.substring(Math.min(end + 1, name.length())));
		}

	}

	/**
	 * Collects the parts of an archive as libtorch writes them. libtorch ends the process
	 * if a part is not written, so a failure is kept until the archive is complete.
	 */
	private static final class Writer extends ArchiveWriter {

		private final ArchiveMemory memory;

		private @Nullable Throwable failure;

		Writer(ArchiveMemory memory) {
			this.memory = memory;
		}

		/**
		 * Appends a part.
		 * @param piece its memory, {@code null} for a part without bytes
		 */
		@Override
		@SuppressWarnings("restricted") // libtorch gives the size of the part
		public long call(@Nullable Pointer piece, long size) {
			try {
				if (piece != null && size > 0 && this.failure == null) {
					this.memory.append(MemorySegment.ofAddress(piece.address()).reinterpret(size));
				}
			}
			catch (RuntimeException | Error ex) {
				this.failure = ex;
			}
			return size;
		}

		/** Requires that all parts were appended. */
		void requireAll() {
			if (this.failure instanceof Error error) {
				throw error;
			}
			if (this.failure instanceof RuntimeException ex) {
				throw ex;
			}
		}

	}

	/** Native memory that holds an archive. */
	static final class ArchiveMemory implements AutoCloseable {

		private Arena arena = Arena.ofShared();

		private MemorySegment memory = MemorySegment.NULL;

		private long size;

		/** Appends a part; one that finds no place only counts. */
		private void append(MemorySegment bytes) {
			long end = Math.addExact(this.size, bytes.byteSize());
			if (end <= this.memory.byteSize()) {
				this.memory.asSlice(this.size, bytes.byteSize()).copyFrom(bytes);
			}
			this.size = end;
		}

		private void clear() {
			this.size = 0;
		}

		/**
		 * Makes place for what has been appended, all of which is to be appended again.
		 * @return whether there was too little
		 */
		private boolean hasGrown() {
			if (this.size <= this.memory.byteSize()) {
				return false;
			}
			this.arena.close();
			this.arena = Arena.ofShared();
			this.memory = this.arena.allocate(this.size, ALIGNMENT);
			return true;
		}

		MemorySegment content() {
			return this.memory.asSlice(0, this.size);
		}

		@Override
		public void close() {
			this.arena.close();
		}

	}

}
