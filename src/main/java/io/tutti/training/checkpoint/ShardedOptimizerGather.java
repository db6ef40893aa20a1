package io.tutti.training.checkpoint;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

import io.tutti.DataType;
import io.tutti.ProcessGroup;
import org.jspecify.annotations.Nullable;

/**
 * Collects on rank 0 the state of an optimizer that is divided among the ranks, so that a
 * checkpoint holds it as if it were whole.
 */
final class ShardedOptimizerGather implements AutoCloseable {

	private final ProcessGroup group;

	private final List<List<StoredTensor>> received = new ArrayList<>();

	private @Nullable Arena arena;

	/** Headers of the tensors that a rank sends. */
	private record PartHeaders(List<TensorHeader> tensors) {
	}

	ShardedOptimizerGather(ProcessGroup group) {
		this.group = group;
	}

	/**
	 * Replaces the collected state by that of the ranks from 1 on. A collective call. The
	 * other ranks receive the names and shapes only.
	 * @param part gives the tensors of this rank's part; not sent by rank 0
	 * @throws CheckpointException on every rank, if a rank cannot give its part, or rank
	 * 0 cannot allocate the memory for the others
	 */
	void collect(Supplier<List<StoredTensor>> part) {
		List<StoredTensor> own = new ArrayList<>();
		FailTogether.run(this.group, () -> own.addAll(part.get()));
		close();
		List<List<TensorHeader>> parts = new ArrayList<>();
		for (int source = 1; source < this.group.worldSize(); source++) {
			parts.add(headers(source, (source == this.group.rank()) ? own : List.of()));
		}
		FailTogether.run(this.group, () -> allocate(parts));
		for (int source = 1; source < this.group.worldSize(); source++) {
			List<TensorHeader> headers = parts.get(source - 1);
			for (int index = 0; index < headers.size(); index++) {
				MemorySegment sent = (source == this.group.rank()) ? own.get(index).data() : MemorySegment.NULL;
				gather(source, headers.get(index).bytes(), sent, (this.group.rank() == 0)
						? this.received.get(source - 1).get(index).data() : MemorySegment.NULL);
			}
		}
	}

	private List<TensorHeader> headers(int source, List<StoredTensor> sent) {
		byte[] text = SafetensorsFormat.MAPPER
			.writeValueAsBytes(new PartHeaders(sent.stream().map(StoredTensor::header).toList()));
		return SafetensorsFormat.MAPPER
			.readValue(new String(StateBroadcast.broadcast(source, this.group, text), StandardCharsets.UTF_8),
					PartHeaders.class)
			.tensors();
	}

	/** Memory on rank 0 for the tensors of the ranks from 1 on. */
	private void allocate(List<List<TensorHeader>> parts) {
		if (this.group.rank() == 0) {
			Arena all = Arena.ofShared();
			this.arena = all;
			parts.forEach((headers) -> this.received.add(headers.stream()
				.map((header) -> new StoredTensor(header, all.allocate(header.bytes(), Long.BYTES)))
				.toList()));
		}
	}

	/**
	 * Gives rank 0 a tensor of a rank. A gather, since messages could meet a receive of
	 * the caller's program.
	 */
	private void gather(int source, long bytes, MemorySegment sent, MemorySegment received) {
		long[] counts = new long[this.group.worldSize()];
		for (long from = 0; from < bytes; from += StateBroadcast.PIECE_BYTES) {
			counts[source] = Math.min(StateBroadcast.PIECE_BYTES, bytes - from);
			this.group.gather(piece(sent, from, counts[source]), piece(received, from, counts[source]), counts,
					DataType.UINT8, 0);
		}
	}

	private static MemorySegment piece(MemorySegment data, long from, long bytes) {
		return (data.byteSize() > 0) ? data.asSlice(from, bytes) : data;
	}

	/** The parts that {@link #collect} has received. */
	List<List<StoredTensor>> received() {
		return List.copyOf(this.received);
	}

	/** Frees the collected state. */
	@Override
	public void close() {
		this.received.clear();
		if (this.arena != null) {
			this.arena.close();
			this.arena = null;
		}
	}

}
