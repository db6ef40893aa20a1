package io.tutti.training.checkpoint;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import io.tutti.ProcessGroup;
import org.jspecify.annotations.Nullable;

/**
 * Collects on rank 0 the state of an optimizer that is divided among the ranks, so that a
 * checkpoint holds it as if it were whole.
 */
final class OptimizerParts implements AutoCloseable {

	private final ProcessGroup group;

	private final List<StoredTensor> received = new ArrayList<>();

	private @Nullable Arena arena;

	/** Headers of the tensors that a rank sends. */
	private record Contents(List<TensorHeader> tensors) {
	}

	OptimizerParts(ProcessGroup group) {
		this.group = group;
	}

	/**
	 * Replaces the collected state by that of the ranks from 1 on. A collective call. The
	 * other ranks hold one tensor of another rank at a time.
	 * @param own tensors of this rank's part; not used on rank 0
	 */
	void collect(List<StoredTensor> own) {
		close();
		Arena all = Arena.ofShared();
		this.arena = all;
		for (int source = 1; source < this.group.worldSize(); source++) {
			boolean sends = source == this.group.rank();
			List<StoredTensor> sent = sends ? own : List.of();
			byte[] text = SafetensorsFormat.MAPPER
				.writeValueAsBytes(new Contents(sent.stream().map(StoredTensor::header).toList()));
			Contents contents = SafetensorsFormat.MAPPER.readValue(
					new String(StateBroadcast.broadcast(source, this.group, text), StandardCharsets.UTF_8),
					Contents.class);
			for (int index = 0; index < contents.tensors().size(); index++) {
				TensorHeader header = contents.tensors().get(index);
				try (Arena once = Arena.ofShared()) {
					MemorySegment data = sends ? sent.get(index).data()
							: ((this.group.rank() == 0) ? all : once).allocate(header.bytes(), Long.BYTES);
					StateBroadcast.broadcast(source, this.group, data);
					if (this.group.rank() == 0) {
						this.received.add(new StoredTensor(header, data));
					}
				}
			}
		}
	}

	/** What {@link #collect} has received, without options of parameter groups. */
	List<StoredTensor> received() {
		return this.received.stream().filter((tensor) -> !OptimizerTensors.isOption(tensor.header())).toList();
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
