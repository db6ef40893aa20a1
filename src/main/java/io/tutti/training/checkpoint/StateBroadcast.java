package io.tutti.training.checkpoint;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.function.Supplier;

import io.tutti.DataType;
import io.tutti.ProcessGroup;
import io.tutti.engine.spi.Sha256;
import io.tutti.training.ReplicaMismatchException;
import io.tutti.training.internal.TextGather;
import org.bytedeco.javacpp.PointerScope;
import org.jspecify.annotations.Nullable;

/**
 * Replaces the state of all ranks by that of one rank: parameters, buffers, optimizer
 * state and a record of the job. A rank replaces nothing before it has received
 * everything, so that a failure on the way leaves its own state complete.
 */
public final class StateBroadcast {

	/** Bytes that one call moves. */
	static final long PIECE_BYTES = 1 << 30;

	/** Largest text: the limit of an array. */
	private static final int MAX_BYTES = Integer.MAX_VALUE - 64;

	/** Shapes of a state, and the job's record as JSON. */
	private record StateContents(String optimizerType, List<TensorHeader> model, List<TensorHeader> optimizer,
			String record) {
	}

	/** What a rank other than the source has received. */
	private record Transferred(String record, List<StoredTensor> model, List<StoredTensor> optimizer) {
	}

	private final ModelState state;

	private final Supplier<ModelState> withNewOptimizer;

	/**
	 * Creates the broadcast of a state.
	 * @param state this rank's state, which no {@link CheckpointStore} uses; must outlive
	 * this object
	 * @param withNewOptimizer the state of the same model with another optimizer, for a
	 * rank whose optimizer has made a step that the source's has not: libtorch cannot
	 * remove the state of a parameter
	 * @throws IllegalStateException if a store uses the state
	 */
	public StateBroadcast(ModelState state, Supplier<ModelState> withNewOptimizer) {
		state.requireUnclaimed();
		this.state = state;
		this.withNewOptimizer = withNewOptimizer;
	}

	/**
	 * SHA-256 over the state and a record, which depends on nothing but their values.
	 * @param jobRecord values of the job that are not tensors, written as JSON
	 * @return 32 bytes
	 */
	public byte[] digest(Object jobRecord) {
		MessageDigest digest = Sha256.newDigest();
		try (PointerScope _ = new PointerScope()) {
			this.state.stage();
			List<StoredTensor> optimizer = optimizer();
			digest.update(SafetensorsFormat.MAPPER.writeValueAsBytes(contents(optimizer, jobRecord)));
			this.state.stagedModel().forEach((tensor) -> Sha256.update(digest, tensor.data()));
			optimizer.forEach((tensor) -> Sha256.update(digest, tensor.data()));
		}
		return digest.digest();
	}

	/**
	 * Takes the state of the source. A collective call.
	 * @param <T> type of the record
	 * @param source the rank whose state all ranks take
	 * @param group the ranks that call
	 * @param jobRecord the source's record
	 * @param type type of the record
	 * @return the record of the source
	 * @throws ReplicaMismatchException on every rank, if the model or the optimizer of a
	 * rank has another shape, before any state changes
	 */
	public <T> T from(int source, ProcessGroup group, T jobRecord, Class<T> type) {
		try (Arena arena = Arena.ofShared()) {
			Transferred all = transfer(source, group, jobRecord, arena);
			if (group.rank() != source) {
				take(all);
			}
			return SafetensorsFormat.MAPPER.readValue(all.record(), type);
		}
	}

	private Transferred transfer(int source, ProcessGroup group, Object jobRecord, Arena arena) {
		boolean sends = group.rank() == source;
		try (PointerScope _ = new PointerScope()) {
			List<StoredTensor> model = List.of();
			List<StoredTensor> optimizer = List.of();
			byte[] text = {};
			if (sends) {
				this.state.stage();
				model = this.state.stagedModel();
				optimizer = optimizer();
				text = SafetensorsFormat.MAPPER.writeValueAsBytes(contents(optimizer, jobRecord));
			}
			StateContents contents = SafetensorsFormat.MAPPER
				.readValue(new String(broadcast(source, group, text), StandardCharsets.UTF_8), StateContents.class);
			requireSameShapes(source, group, contents);
			return new Transferred(contents.record(),
					broadcast(source, group, contents.model(), sends ? model : null, arena),
					broadcast(source, group, contents.optimizer(), sends ? optimizer : null, arena));
		}
	}

	/** In no scope that would close a new optimizer. */
	private void take(Transferred all) {
		ModelState taking = this.state;
		String obstacle = taking.restoreOptimizer(all.optimizer());
		if (obstacle != null) {
			taking = this.withNewOptimizer.get();
			obstacle = taking.restoreOptimizer(all.optimizer());
		}
		if (obstacle != null) {
			throw new IllegalStateException(obstacle);
		}
		all.model().forEach(taking::restore);
	}

	/** The order in an archive of libtorch depends on addresses. */
	private List<StoredTensor> optimizer() {
		return this.state.stagedOptimizer()
			.stream()
			.sorted(Comparator.comparing((tensor) -> tensor.header().name()))
			.toList();
	}

	private StateContents contents(List<StoredTensor> optimizer, Object jobRecord) {
		return new StateContents(this.state.optimizerType(),
				this.state.stagedModel().stream().map(StoredTensor::header).toList(),
				optimizer.stream().map(StoredTensor::header).toList(),
				SafetensorsFormat.MAPPER.writeValueAsString(jobRecord));
	}

	/** Every rank learns of a difference, so that none waits for the tensors. */
	private void requireSameShapes(int source, ProcessGroup group, StateContents contents) {
		String obstacle = this.state.obstacle(contents.optimizerType(), contents.model(), contents.optimizer());
		List<String> obstacles = TextGather.allGather(group, (obstacle != null) ? obstacle : "");
		for (int rank = 0; rank < obstacles.size(); rank++) {
			if (!obstacles.get(rank).isEmpty()) {
				throw new ReplicaMismatchException("rank " + rank + " cannot take the state of rank " + source
						+ ", whose model or optimizer differs: " + obstacles.get(rank)
						+ ". Start every rank with the same task and options");
			}
		}
	}

	/** Broadcasts a text of unknown length. */
	static byte[] broadcast(int source, ProcessGroup group, byte[] text) {
		long[] length = { text.length };
		group.broadcast(MemorySegment.ofArray(length), DataType.INT64, source);
		if (length[0] < 0 || length[0] > MAX_BYTES) {
			throw new IllegalStateException("rank " + source + " announced a state of " + length[0] + " bytes");
		}
		byte[] received = (group.rank() == source) ? text : new byte[(int) length[0]];
		group.broadcast(MemorySegment.ofArray(received), DataType.UINT8, source);
		return received;
	}

	private static List<StoredTensor> broadcast(int source, ProcessGroup group, List<TensorHeader> headers,
			@Nullable List<StoredTensor> sent, Arena arena) {
		List<StoredTensor> tensors = new ArrayList<>();
		for (int index = 0; index < headers.size(); index++) {
			TensorHeader header = headers.get(index);
			StoredTensor tensor = (sent != null) ? sent.get(index)
					: new StoredTensor(header, arena.allocate(header.bytes(), Long.BYTES));
			MemorySegment data = tensor.data();
			broadcast(source, group, data);
			tensors.add(tensor);
		}
		return tensors;
	}

	/** Broadcasts data of known size. */
	static void broadcast(int source, ProcessGroup group, MemorySegment data) {
		for (long from = 0; from < data.byteSize(); from += PIECE_BYTES) {
			group.broadcast(data.asSlice(from, Math.min(PIECE_BYTES, data.byteSize() - from)), DataType.UINT8, source);
		}
	}

}
