package io.tutti.training.checkpoint;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

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
	 * other ranks hold one tensor of another rank at a time.
	 * @param part gives the tensors of this rank's part; not sent by rank 0
	 * @throws CheckpointException on every rank, if a rank cannot give its part or
	 * allocate the memory for the others
	 */
	void collect(Supplier<List<StoredTensor>> part) {
		List<StoredTensor> own = new ArrayList<>();
		FailTogether.run(this.group, () -> own.addAll(part.get()));
		close();
		List<List<TensorHeader>> parts = new ArrayList<>();
		for (int source = 1; source < this.group.worldSize(); source++) {
			parts.add(headers(source, (source == this.group.rank()) ? own : List.of()));
		}
		try (Arena once = Arena.ofShared()) {
			List<MemorySegment> memories = new ArrayList<>();
			FailTogether.run(this.group, () -> memories.addAll(memories(parts, own, once)));
			int next = 0;
			for (int source = 1; source < this.group.worldSize(); source++) {
				List<StoredTensor> collected = new ArrayList<>();
				for (TensorHeader header : parts.get(source - 1)) {
					MemorySegment data = memories.get(next++);
					StateBroadcast.broadcast(source, this.group, data);
					collected.add(new StoredTensor(header, data));
				}
				if (this.group.rank() == 0) {
					this.received.add(collected);
				}
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

	/**
	 * Where this rank holds the tensors of the ranks from 1 on while they are sent: rank
	 * 0 each at a place of its own, other ranks all at the same.
	 */
	private List<MemorySegment> memories(List<List<TensorHeader>> parts, List<StoredTensor> own, Arena once) {
		if (this.group.rank() == 0) {
			Arena all = Arena.ofShared();
			this.arena = all;
			return parts.stream()
				.flatMap(List::stream)
				.map((header) -> all.allocate(header.bytes(), Long.BYTES))
				.toList();
		}
		long largest = parts.stream().flatMap(List::stream).mapToLong(TensorHeader::bytes).max().orElse(0);
		MemorySegment shared = once.allocate(largest, Long.BYTES);
		List<MemorySegment> memories = new ArrayList<>();
		for (int source = 1; source <= parts.size(); source++) {
			List<TensorHeader> headers = parts.get(source - 1);
			for (int index = 0; index < headers.size(); index++) {
				memories.add((source == this.group.rank()) ? own.get(index).data()
						: shared.asSlice(0, headers.get(index).bytes()));
			}
		}
		return memories;
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
