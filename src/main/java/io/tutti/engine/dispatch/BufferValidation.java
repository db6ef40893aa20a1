package io.tutti.engine.dispatch;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;

import io.tutti.Collective;
import io.tutti.DataType;
import io.tutti.RankOutOfRangeException;
import io.tutti.ReduceOp;
import io.tutti.engine.spi.GroupBackend;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.RefusedCall;
import org.jspecify.annotations.Nullable;

/**
 * Validates a call's buffers in the API layer, so that the data path can use raw
 * addresses. Does not allocate for native buffers.
 */
final class BufferValidation {

	/**
	 * A thread that owns no arena: any thread may access a segment that this one may
	 * access.
	 */
	private static final Thread ANY_THREAD = Thread.ofVirtual().unstarted(() -> {
	});

	private final GroupIdentity identity;

	private final int rank;

	private final int worldSize;

	private final GroupBackend backend;

	BufferValidation(GroupIdentity identity, GroupBackend backend) {
		this.identity = identity;
		this.backend = backend;
		this.rank = identity.rank();
		this.worldSize = identity.worldSize();
	}

	/**
	 * Checks the arguments of a call. Takes separate parameters because a record would be
	 * allocated per call.
	 * @param sendCounts {@code null} if all parts have the same size
	 * @param receiveCounts {@code null} if every rank passes the same counts
	 * @param asynchronous whether the call runs on the worker thread, which cannot keep a
	 * confined arena of another thread open
	 * @return the call's {@linkplain Call#count() count}
	 */
	long check(Collective collective, MemorySegment send, MemorySegment receive, DataType type, @Nullable ReduceOp op,
			int root, long @Nullable [] sendCounts, long @Nullable [] receiveCounts, boolean asynchronous) {
		try {
			return checked(collective, send, receive, type, op, root, sendCounts, receiveCounts, asynchronous);
		}
		catch (IllegalArgumentException | NullPointerException | UnsupportedOperationException ex) {
			throw RefusedCall.at(this.identity, collective.label(), ex);
		}
	}

	/** Checks the arguments of a call in place on each of several buffers. */
	void checkList(Collective collective, List<MemorySegment> buffers, DataType type, @Nullable ReduceOp op, int root,
			boolean asynchronous) {
		check(collective, MemorySegment.NULL, MemorySegment.NULL, type, op, root, null, null, asynchronous);
		int index = -1;
		try {
			for (MemorySegment buffer : Objects.requireNonNull(buffers, "buffers must not be null")) {
				index++;
				checked(collective, buffer, buffer, type, op, root, null, null, asynchronous);
			}
			index = -1;
			if (collective != Collective.BROADCAST) {
				SeparateBuffers.require(buffers);
			}
		}
		catch (IllegalArgumentException | NullPointerException | UnsupportedOperationException ex) {
			throw RefusedCall.at(this.identity, collective.label() + ((index < 0) ? "" : ": buffers[" + index + "]"),
					ex);
		}
	}

	private long checked(Collective collective, MemorySegment send, MemorySegment receive, DataType type,
			@Nullable ReduceOp op, int root, long @Nullable [] sendCounts, long @Nullable [] receiveCounts,
			boolean asynchronous) {
		requireOperator(collective, type, op);
		RankOutOfRangeException.check("root", root, this.worldSize);
		requireUsable(sendName(send, receive), send, asynchronous);
		requireUsable(receiveName(send, receive), receive, asynchronous);
		boolean isRoot = this.rank == root;
		if (receive.isReadOnly() && !(collective == Collective.BROADCAST && isRoot)) {
			throw new IllegalArgumentException(receiveName(send, receive) + " is read-only");
		}
		switch (collective) {
			case BARRIER, BROADCAST -> {
			}
			case ALL_REDUCE, SCAN, EXCLUSIVE_SCAN -> requireInPlaceOrDisjoint(send, receive);
			case REDUCE -> {
				if (isRoot) {
					requireInPlaceOrDisjoint(send, receive);
				}
			}
			case ALL_GATHER -> requireParts("receive", receive, "send", send, type, sendCounts, true);
			case GATHER -> requireParts("receive", receive, "send", send, type, sendCounts, isRoot);
			case REDUCE_SCATTER -> requireParts("send", send, "receive", receive, type, sendCounts, true);
			case SCATTER -> requireParts("send", send, "receive", receive, type, sendCounts, isRoot);
			case ALL_TO_ALL -> requireExchange(send, receive, type, sendCounts, receiveCounts);
		}
		this.backend.requireSupported(collective, send, receive, op, sendCounts != null);
		return (sendCounts != null) ? (receiveCounts != null) ? 0 : sum(sendCounts, sendCounts.length)
				: requireCountable("", "count", countOf(collective, send, receive, type));
	}

	private long requireCountable(String prefix, String name, long count) {
		long largest = this.backend.largestCount();
		if (count > largest) {
			throw new IllegalArgumentException(prefix + name + " must be in 0.." + largest + " elements on the backend "
					+ this.backend.name() + ", got " + count);
		}
		return count;
	}

	private long countOf(Collective collective, MemorySegment send, MemorySegment receive, DataType type) {
		long bytes = switch (collective) {
			case ALL_REDUCE, REDUCE, ALL_GATHER, GATHER, SCAN, EXCLUSIVE_SCAN -> send.byteSize();
			case BARRIER, BROADCAST, REDUCE_SCATTER, SCATTER -> receive.byteSize();
			case ALL_TO_ALL -> send.byteSize() / this.worldSize;
		};
		if (bytes % type.bytes() != 0) {
			throw new IllegalArgumentException("buffer of " + bytes + " bytes is not whole elements of " + type + " ("
					+ type.bytes() + " bytes each)");
		}
		return bytes / type.bytes();
	}

	/** Only a collective that reduces has an operator. */
	private static void requireOperator(Collective collective, DataType type, @Nullable ReduceOp op) {
		Objects.requireNonNull(type, "type must not be null");
		if (op == null) {
			if (collective.reduces()) {
				throw new NullPointerException("op must not be null");
			}
			return;
		}
		if (!op.appliesTo(type)) {
			throw new IllegalArgumentException(op + " needs an integer type, got " + type);
		}
		if (op == ReduceOp.AVERAGE && (collective == Collective.SCAN || collective == Collective.EXCLUSIVE_SCAN)) {
			throw new IllegalArgumentException("op must be any but " + op + ", which prefixes do not have");
		}
	}

	/** A call in place has one buffer. */
	private static String sendName(@Nullable MemorySegment send, @Nullable MemorySegment receive) {
		return (send == receive) ? "buffer" : "send buffer";
	}

	private static String receiveName(@Nullable MemorySegment send, @Nullable MemorySegment receive) {
		return (send == receive) ? "buffer" : "receive buffer";
	}

	/** Checks that the buffers were not closed while the call waited for its turn. */
	static void requireOpen(Call call, MemorySegment send, MemorySegment receive) {
		requireOpen(call, send, receive, "before", null);
	}

	private static void requireOpen(String name, @Nullable MemorySegment segment) {
		if (segment == null) {
			throw new NullPointerException(name + " must not be null");
		}
		if (!segment.scope().isAlive()) {
			throw new IllegalArgumentException(name + " is closed");
		}
	}

	/**
	 * Checks that the buffers stayed open while the call ran.
	 * @param cause the exception of the call, if it failed
	 * @throws IllegalStateException if a buffer was closed meanwhile
	 */
	static void requireStillOpen(Call call, MemorySegment send, MemorySegment receive, @Nullable Throwable cause) {
		requireOpen(call, send, receive, "during", cause);
	}

	private static void requireOpen(Call call, MemorySegment send, MemorySegment receive, String when,
			@Nullable Throwable cause) {
		boolean sendOpen = send.scope().isAlive();
		if (!sendOpen || !receive.scope().isAlive()) {
			throw new IllegalStateException((sendOpen ? receiveName(send, receive) : sendName(send, receive))
					+ " was closed " + when + " " + call.issued().collective() + " #" + call.sequence()
					+ ": keep its arena open until the call returns or its future is done", cause);
		}
	}

	/**
	 * Checks a buffer that this thread will use, or the worker thread.
	 */
	static void requireUsable(String name, MemorySegment segment, boolean asynchronous) {
		requireOpen(name, segment);
		if (asynchronous && !segment.isAccessibleBy(ANY_THREAD)) {
			throw new IllegalArgumentException(name + " belongs to a confined arena, which is its thread's "
					+ "alone; an asynchronous call needs a shared, automatic or global one");
		}
		if (!segment.isAccessibleBy(Thread.currentThread())) {
			throw new IllegalArgumentException(name + " belongs to another thread; use a shared or automatic arena");
		}
	}

	/** Equal segments begin at the same place, whatever their sizes. */
	static boolean isSame(MemorySegment one, MemorySegment other) {
		return one.equals(other) && one.byteSize() == other.byteSize();
	}

	/** Checks buffers of one size that are the same or disjoint. */
	private static void requireInPlaceOrDisjoint(MemorySegment send, MemorySegment receive) {
		requireSameSize(send, receive);
		if (!isSame(send, receive)) {
			requireDisjoint(send, receive);
		}
	}

	private static void requireSameSize(MemorySegment send, MemorySegment receive) {
		if (receive.byteSize() != send.byteSize()) {
			throw new IllegalArgumentException("receive buffer must be " + send.byteSize()
					+ " bytes, as the send buffer is, got " + receive.byteSize());
		}
	}

	/**
	 * Checks a part and a buffer that holds such a part for each rank.
	 * @param hasWhole whether this rank has the whole buffer
	 */
	private void requireParts(String wholeName, MemorySegment whole, String partName, MemorySegment part, DataType type,
			long @Nullable [] counts, boolean hasWhole) {
		long offset = this.rank * part.byteSize();
		if (counts != null) {
			long total = total("counts", counts);
			requireCount(partName, part, counts[this.rank], type);
			if (hasWhole) {
				requireCount(wholeName, whole, total, type);
			}
			offset = sum(counts, this.rank) * type.bytes();
		}
		else if (hasWhole) {
			long expected = product(partName, part.byteSize(), this.worldSize);
			if (whole.byteSize() != expected) {
				throw new IllegalArgumentException(
						wholeName + " buffer must be " + expected + " bytes (" + this.worldSize + " ranks × "
								+ part.byteSize() + " of the " + partName + " buffer), got " + whole.byteSize());
			}
		}
		if (hasWhole) {
			requirePart(whole, part, offset);
		}
	}

	/** Checks that a part is disjoint from the whole, or is this rank's part of it. */
	private static void requirePart(MemorySegment whole, MemorySegment part, long offset) {
		if (overlap(whole, part) && part.address() - whole.address() != offset) {
			throw new IllegalArgumentException("send and receive buffers must not overlap, "
					+ "unless the part is this rank's of the whole, from byte " + offset);
		}
	}

	private void requireExchange(MemorySegment send, MemorySegment receive, DataType type, long @Nullable [] sendCounts,
			long @Nullable [] receiveCounts) {
		if (sendCounts != null && receiveCounts != null) {
			requireCount("send", send, total("sendCounts", sendCounts), type);
			requireCount("receive", receive, total("receiveCounts", receiveCounts), type);
			if (sendCounts[this.rank] != receiveCounts[this.rank]) {
				throw new IllegalArgumentException("rank " + this.rank + " sends " + sendCounts[this.rank]
						+ " elements to itself but receives " + receiveCounts[this.rank] + " from itself");
			}
		}
		else {
			requireSameSize(send, receive);
			long unit = (long) this.worldSize * type.bytes();
			if (send.byteSize() % unit != 0) {
				throw new IllegalArgumentException("buffer of " + send.byteSize() + " bytes is not whole elements of "
						+ type + " for each of " + this.worldSize + " ranks (multiples of " + unit + " bytes)");
			}
		}
		requireDisjoint(send, receive);
	}

	/** Elements of the first ranks' parts together. */
	private static long sum(long[] counts, int ranks) {
		long sum = 0;
		for (int i = 0; i < ranks; i++) {
			sum += counts[i];
		}
		return sum;
	}

	/** Makes no message beforehand, which would be allocated per call. */
	private long total(String name, long[] counts) {
		if (counts.length != this.worldSize) {
			throw new IllegalArgumentException(
					name + " must be one per rank (" + this.worldSize + "), got " + counts.length);
		}
		long total = 0;
		for (int i = 0; i < counts.length; i++) {
			if (counts[i] < 0) {
				throw new IllegalArgumentException(name + "[" + i + "] must be at least 0, got " + counts[i]);
			}
			if (counts[i] > Long.MAX_VALUE - total) {
				throw new IllegalArgumentException("the sum of the " + name + " must be at most " + Long.MAX_VALUE
						+ ", exceeded at " + name + "[" + i + "] = " + counts[i]);
			}
			total += counts[i];
		}
		return requireCountable("sum of the ", name, total);
	}

	private static long product(String name, long value, int factor) {
		if (value > Long.MAX_VALUE / factor) {
			throw new IllegalArgumentException(
					name + " must be at most " + Long.MAX_VALUE / factor + " to be addressable, got " + value);
		}
		return value * factor;
	}

	private static void requireCount(String name, MemorySegment buffer, long count, DataType type) {
		long expected = product("count", count, type.bytes());
		if (buffer.byteSize() != expected) {
			throw new IllegalArgumentException(name + " buffer must be " + expected + " bytes (" + count
					+ " elements of " + type + " by the counts), got " + buffer.byteSize());
		}
	}

	static void requireDisjoint(MemorySegment one, MemorySegment other) {
		if (overlap(one, other)) {
			throw new IllegalArgumentException("send and receive buffers must not overlap");
		}
	}

	private static boolean overlap(MemorySegment one, MemorySegment other) {
		boolean overlap = (one.isNative() && other.isNative())
				? one.address() < other.address() + other.byteSize() && other.address() < one.address() + one.byteSize()
				: one.asOverlappingSlice(other).isPresent();
		return overlap && one.byteSize() > 0 && other.byteSize() > 0;
	}

}
