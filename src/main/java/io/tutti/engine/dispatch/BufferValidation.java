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
	 * Checks the arguments of a call in which all parts have the same size.
	 * @return the call's {@linkplain Call#count() count}
	 */
	long check(Collective collective, MemorySegment send, MemorySegment receive, DataType type, @Nullable ReduceOp op,
			int root) {
		try {
			return checkEven(collective, send, receive, type, op, root);
		}
		catch (IllegalArgumentException | NullPointerException | UnsupportedOperationException ex) {
			throw RefusedCall.at(this.identity, collective.label(), ex);
		}
	}

	/** Checks the arguments of a call in place on each of several buffers. */
	void checkList(Collective collective, List<MemorySegment> buffers, DataType type, @Nullable ReduceOp op, int root) {
		check(collective, MemorySegment.NULL, MemorySegment.NULL, type, op, root);
		int checked = -1;
		try {
			for (MemorySegment buffer : Objects.requireNonNull(buffers, "buffers must not be null")) {
				checked++;
				checkEven(collective, buffer, buffer, type, op, root);
			}
			checked = -1;
			if (collective != Collective.BROADCAST) {
				SeparateBuffers.require(buffers);
			}
		}
		catch (IllegalArgumentException | NullPointerException | UnsupportedOperationException ex) {
			throw RefusedCall.at(this.identity,
					collective.label() + ((checked < 0) ? "" : ": buffers[" + checked + "]"), ex);
		}
	}

	private long checkEven(Collective collective, MemorySegment send, MemorySegment receive, DataType type,
			@Nullable ReduceOp op, int root) {
		requireOperator(collective, type, op);
		RankOutOfRangeException.check("root", root, this.worldSize);
		requireUsable(send, receive);
		if (receive.isReadOnly() && !(collective == Collective.BROADCAST && this.rank == root)) {
			throw readOnly(send, receive);
		}
		switch (collective) {
			case BARRIER, BROADCAST -> {
			}
			case ALL_REDUCE, SCAN, EXCLUSIVE_SCAN -> requireInPlaceOrDisjoint(send, receive);
			case REDUCE -> {
				if (this.rank == root) {
					requireInPlaceOrDisjoint(send, receive);
				}
			}
			case ALL_GATHER -> requireParts("receive", receive, "send", send);
			case REDUCE_SCATTER -> requireParts("send", send, "receive", receive);
			case GATHER -> {
				if (this.rank == root) {
					requireParts("receive", receive, "send", send);
				}
			}
			case SCATTER -> {
				if (this.rank == root) {
					requireParts("send", send, "receive", receive);
				}
			}
			case ALL_TO_ALL -> requireExchangeSizes(send, receive, type);
		}
		this.backend.requireUsable(collective, send, receive, op, false);
		return requireCountable("count", countOf(collective, send, receive, type));
	}

	/**
	 * Checks the arguments of a call in which the sizes of the parts differ.
	 * @param receiveCounts {@code null} if every rank passes the same counts
	 * @return the call's {@linkplain Call#count() count}
	 */
	long checkUneven(Collective collective, MemorySegment send, MemorySegment receive, DataType type,
			@Nullable ReduceOp op, int root, long @Nullable [] sendCounts, long @Nullable [] receiveCounts) {
		try {
			return checkParts(collective, send, receive, type, op, root, sendCounts, receiveCounts);
		}
		catch (IllegalArgumentException | NullPointerException | UnsupportedOperationException ex) {
			throw RefusedCall.at(this.identity, collective.label(), ex);
		}
	}

	private long checkParts(Collective collective, MemorySegment send, MemorySegment receive, DataType type,
			@Nullable ReduceOp op, int root, long @Nullable [] sendCounts, long @Nullable [] receiveCounts) {
		requireOperator(collective, type, op);
		RankOutOfRangeException.check("root", root, this.worldSize);
		requireUsable(send, receive);
		if (receive.isReadOnly()) {
			throw readOnly(send, receive);
		}
		boolean exchange = collective == Collective.ALL_TO_ALL;
		long[] counts = Objects.requireNonNull(sendCounts,
				exchange ? "sendCounts must not be null" : "counts must not be null");
		long total = requireCountable("sum of the counts", total(exchange ? "sendCounts" : "counts", counts));
		long own = counts[this.rank];
		switch (collective) {
			case ALL_GATHER -> {
				requireCount("send", send, own, type);
				requireCount("receive", receive, total, type);
				requirePart(receive, send, offset(counts, type));
			}
			case REDUCE_SCATTER -> {
				requireCount("send", send, total, type);
				requireCount("receive", receive, own, type);
				requirePart(send, receive, offset(counts, type));
			}
			case GATHER -> {
				requireCount("send", send, own, type);
				if (this.rank == root) {
					requireCount("receive", receive, total, type);
					requirePart(receive, send, offset(counts, type));
				}
			}
			case SCATTER -> {
				requireCount("receive", receive, own, type);
				if (this.rank == root) {
					requireCount("send", send, total, type);
					requirePart(send, receive, offset(counts, type));
				}
			}
			case ALL_TO_ALL -> {
				long[] comes = Objects.requireNonNull(receiveCounts, "receiveCounts must not be null");
				requireCount("send", send, total, type);
				long received = requireCountable("sum of the receiveCounts", total("receiveCounts", comes));
				requireCount("receive", receive, received, type);
				requireSame(own, comes[this.rank]);
				requireDisjoint(send, receive);
			}
			case BARRIER, ALL_REDUCE, REDUCE, BROADCAST, SCAN, EXCLUSIVE_SCAN ->
				throw new IllegalArgumentException("it has no counts by rank");
		}
		this.backend.requireUsable(collective, send, receive, op, true);
		return exchange ? 0 : total;
	}

	private long requireCountable(String name, long count) {
		long largest = this.backend.largestCount();
		if (count > largest) {
			throw new IllegalArgumentException(name + " must be in 0.." + largest + " elements on the backend "
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

	private static void requireUsable(MemorySegment send, MemorySegment receive) {
		requireUsable(sendName(send, receive), send);
		requireUsable(receiveName(send, receive), receive);
	}

	/** A call in place has one buffer. */
	private static String sendName(@Nullable MemorySegment send, @Nullable MemorySegment receive) {
		return (send == receive) ? "buffer" : "send buffer";
	}

	private static String receiveName(@Nullable MemorySegment send, @Nullable MemorySegment receive) {
		return (send == receive) ? "buffer" : "receive buffer";
	}

	private static IllegalArgumentException readOnly(MemorySegment send, MemorySegment receive) {
		return new IllegalArgumentException(receiveName(send, receive) + " is read-only");
	}

	/** Checks that the buffers were not closed while the call waited for its turn. */
	static void requireOpen(MemorySegment send, MemorySegment receive) {
		requireOpen(sendName(send, receive), send);
		requireOpen(receiveName(send, receive), receive);
	}

	private static void requireOpen(String name, MemorySegment segment) {
		requireBuffer(name, segment);
		if (!segment.scope().isAlive()) {
			throw new IllegalArgumentException(name + " is closed");
		}
	}

	private static void requireBuffer(String name, @Nullable MemorySegment segment) {
		if (segment == null) {
			throw new NullPointerException(name + " must not be null");
		}
	}

	/**
	 * Checks that the buffers stayed open while the call ran.
	 * @param cause the exception of the call, if it failed
	 * @throws IllegalStateException if a buffer was closed meanwhile
	 */
	static void requireStillOpen(Call call, MemorySegment send, MemorySegment receive, @Nullable Throwable cause) {
		boolean sendOpen = send.scope().isAlive();
		if (!sendOpen || !receive.scope().isAlive()) {
			throw new IllegalStateException((sendOpen ? receiveName(send, receive) : sendName(send, receive))
					+ " was closed during " + call.issued().collective() + " #" + call.sequence()
					+ ": keep its arena open until the call returns or its future is done", cause);
		}
	}

	/**
	 * Checks that no buffer belongs to a confined arena: the worker thread of an
	 * asynchronous call cannot keep an arena of another thread open.
	 */
	void requireShared(Collective collective, MemorySegment send, MemorySegment receive) {
		try {
			requireShared(sendName(send, receive), send);
			requireShared(receiveName(send, receive), receive);
		}
		catch (IllegalArgumentException | NullPointerException ex) {
			throw RefusedCall.at(this.identity, collective.label(), ex);
		}
	}

	/** Checks each buffer of a list, if there is a list. */
	void requireShared(Collective collective, @Nullable List<MemorySegment> buffers) {
		if (buffers != null) {
			buffers.forEach((buffer) -> requireShared(collective, buffer, buffer));
		}
	}

	static void requireShared(String name, MemorySegment segment) {
		requireBuffer(name, segment);
		if (!segment.isAccessibleBy(ANY_THREAD)) {
			throw new IllegalArgumentException(name + " belongs to a confined arena, which is its thread's "
					+ "alone; an asynchronous call needs a shared, automatic or global one");
		}
	}

	static void requireUsable(String name, MemorySegment segment) {
		requireOpen(name, segment);
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

	private void requireParts(String wholeName, MemorySegment whole, String partName, MemorySegment part) {
		long expected = product(partName, part.byteSize(), this.worldSize);
		if (whole.byteSize() != expected) {
			throw new IllegalArgumentException(wholeName + " buffer must be " + expected + " bytes (" + this.worldSize
					+ " ranks × " + part.byteSize() + " of the " + partName + " buffer), got " + whole.byteSize());
		}
		requirePart(whole, part, this.rank * part.byteSize());
	}

	/**
	 * Checks that a part is disjoint from the whole, or is this rank's part of it if the
	 * backend supports that. Heap memory is staged, so it may always be.
	 */
	private void requirePart(MemorySegment whole, MemorySegment part, long offset) {
		boolean inPlace = part.address() - whole.address() == offset
				&& (whole.isNative() ? part.isNative() && this.backend.takesPartsInPlace(whole.address())
						: whole.heapBase().equals(part.heapBase()));
		if (!inPlace) {
			requireDisjoint(whole, part);
		}
	}

	/** Offset of this rank's part, in bytes. */
	private long offset(long[] counts, DataType type) {
		long offset = 0;
		for (int i = 0; i < this.rank; i++) {
			offset += counts[i];
		}
		return offset * type.bytes();
	}

	private void requireExchangeSizes(MemorySegment send, MemorySegment receive, DataType type) {
		requireSameSize(send, receive);
		long unit = (long) this.worldSize * type.bytes();
		if (send.byteSize() % unit != 0) {
			throw new IllegalArgumentException("buffer of " + send.byteSize() + " bytes is not whole elements of "
					+ type + " for each of " + this.worldSize + " ranks (multiples of " + unit + " bytes)");
		}
		requireDisjoint(send, receive);
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
		return total;
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

	private void requireSame(long toItself, long fromItself) {
		if (toItself != fromItself) {
			throw new IllegalArgumentException("rank " + this.rank + " sends " + toItself
					+ " elements to itself but receives " + fromItself + " from itself");
		}
	}

	static void requireDisjoint(MemorySegment one, MemorySegment other) {
		boolean overlap = (one.isNative() && other.isNative())
				? one.address() < other.address() + other.byteSize() && other.address() < one.address() + one.byteSize()
				: one.asOverlappingSlice(other).isPresent();
		if (overlap && one.byteSize() > 0 && other.byteSize() > 0) {
			throw new IllegalArgumentException("send and receive buffers must not overlap");
		}
	}

}
