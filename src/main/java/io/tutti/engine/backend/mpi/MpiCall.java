package io.tutti.engine.backend.mpi;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.Supplier;

import io.tutti.DataType;
import io.tutti.ProcessGroup;
import io.tutti.engine.spi.RefusedCall;
import org.jspecify.annotations.Nullable;

/**
 * Checks and converts the arguments of one call of a communicator. The message for a
 * wrong argument begins with the place of the call, as a group's own checks do.
 *
 * @param group the communicator's group
 * @param name the call, as the group names it
 */
record MpiCall(ProcessGroup group, String name) {

	/** The place of the call: rank, group and name. */
	String place() {
		return RefusedCall.place(this.group.rank(), this.group.name(), this.name);
	}

	/**
	 * The first {@code count} elements of a buffer.
	 */
	MemorySegment buffer(Object buffer, long count, DataType type) {
		return placed(() -> MpiBuffer.of(buffer, count, type));
	}

	/** The parts of all ranks. */
	MemorySegment whole(Object buffer, int count, DataType type) {
		return buffer(buffer, (long) count * this.group.worldSize(), type);
	}

	/** A buffer that only the root needs; no memory on other ranks. */
	MemorySegment onRoot(String role, @Nullable Object buffer, long count, DataType type, int root) {
		if (this.group.rank() != root(root)) {
			return MemorySegment.NULL;
		}
		if (buffer == null) {
			throw new IllegalArgumentException(place() + "the root needs a " + role + " buffer, got null");
		}
		return buffer(buffer, count, type);
	}

	/** The counts of all ranks. */
	long[] parts(int[] counts) {
		int size = this.group.worldSize();
		if (placed(() -> Objects.requireNonNull(counts, "counts must not be null")).length != size) {
			throw new IllegalArgumentException(
					place() + "counts must be one per rank (" + size + "), got " + counts.length);
		}
		return Arrays.stream(counts).asLongStream().toArray();
	}

	int root(int root) {
		return rank("root", root);
	}

	int destination(int peer) {
		return rank("destination", peer);
	}

	int source(int source) {
		return (source == Mpi.ANY_SOURCE) ? source : rank("source", source);
	}

	private int rank(String role, int rank) {
		int size = this.group.worldSize();
		if (rank < 0 || rank >= size) {
			throw new InvalidRankException(place() + role, rank, size);
		}
		return rank;
	}

	void requireDisjoint(MemorySegment send, MemorySegment receive) {
		if (send.asOverlappingSlice(receive).isPresent()) {
			throw new IllegalArgumentException(place() + "send and receive buffers must not overlap");
		}
	}

	private <T> T placed(Supplier<T> check) {
		try {
			return check.get();
		}
		catch (IllegalArgumentException | NullPointerException ex) {
			throw RefusedCall.at(place(), ex);
		}
	}

}
