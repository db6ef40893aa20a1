package io.tutti.engine.dispatch;

import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Objects;

import io.tutti.DataType;
import io.tutti.Message;
import io.tutti.RankOutOfRangeException;
import io.tutti.Transfer;
import io.tutti.engine.spi.GroupBackend;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.RefusedCall;
import org.jspecify.annotations.Nullable;

/**
 * Checks of a message's arguments before anything is sent.
 */
final class MessageArguments {

	private final GroupIdentity identity;

	private final GroupBackend backend;

	MessageArguments(GroupIdentity identity, GroupBackend backend) {
		this.identity = identity;
		this.backend = backend;
	}

	void requireSend(MemorySegment buffer, DataType type, int peer, int tag) {
		try {
			requireSource("buffer", buffer, type, peer, tag);
		}
		catch (IllegalArgumentException | NullPointerException | UnsupportedOperationException ex) {
			throw RefusedCall.at(this.identity, "send", ex);
		}
	}

	/** As {@link #requireSend}, of memory that any thread may access. */
	void requireAsyncSend(MemorySegment buffer, DataType type, int peer, int tag) {
		requireShared("send", buffer);
		requireSend(buffer, type, peer, tag);
	}

	void requireReceive(MemorySegment buffer, DataType type, int source, int tag, boolean anyAllowed) {
		try {
			requireDestination("buffer", buffer, type, source, tag, anyAllowed);
		}
		catch (IllegalArgumentException | NullPointerException | UnsupportedOperationException ex) {
			throw RefusedCall.at(this.identity, "receive", ex);
		}
	}

	/** As {@link #requireReceive}, of memory that any thread may access. */
	void requireAsyncReceive(MemorySegment buffer, DataType type, int source, int tag) {
		requireShared("receive", buffer);
		requireReceive(buffer, type, source, tag, true);
	}

	void requireProbe(int source, int tag) {
		try {
			requireMatchable(source, tag);
		}
		catch (IllegalArgumentException ex) {
			throw RefusedCall.at(this.identity, "probe", ex);
		}
	}

	void requireSendReceive(MemorySegment send, int peer, MemorySegment receive, int source, DataType type, int tag) {
		try {
			requireSource("send buffer", send, type, peer, tag);
			requireDestination("receive buffer", receive, type, source, tag, false);
			BufferValidation.requireDisjoint(send, receive);
		}
		catch (IllegalArgumentException | NullPointerException | UnsupportedOperationException ex) {
			throw RefusedCall.at(this.identity, "send-receive", ex);
		}
	}

	/**
	 * Checks transfers before any is started: the caller would get no work for those that
	 * were started before the invalid one.
	 * @return a copy of the list
	 */
	List<Transfer> requireTransfers(@Nullable List<Transfer> transfers) {
		try {
			Objects.requireNonNull(transfers, "transfers must not be null")
				.forEach((transfer) -> Objects.requireNonNull(transfer, "a transfer must not be null"));
		}
		catch (NullPointerException ex) {
			throw RefusedCall.at(this.identity, "startAll", ex);
		}
		List<Transfer> all = List.copyOf(transfers);
		all.forEach(this::requireTransfer);
		return all;
	}

	private void requireTransfer(Transfer transfer) {
		switch (transfer.direction()) {
			case SEND -> requireAsyncSend(transfer.buffer(), transfer.type(), transfer.peer(), transfer.tag());
			case RECEIVE -> requireAsyncReceive(transfer.buffer(), transfer.type(), transfer.peer(), transfer.tag());
		}
	}

	private void requireShared(String call, MemorySegment buffer) {
		try {
			BufferValidation.requireShared("buffer", buffer);
		}
		catch (IllegalArgumentException | NullPointerException ex) {
			throw RefusedCall.at(this.identity, call, ex);
		}
	}

	private void requireSource(String name, MemorySegment buffer, DataType type, int peer, int tag) {
		requireUsable(name, buffer, type);
		RankOutOfRangeException.check("peer", peer, this.identity.worldSize());
		requireTag(tag);
	}

	private void requireDestination(String name, MemorySegment buffer, DataType type, int source, int tag,
			boolean anyAllowed) {
		requireUsable(name, buffer, type);
		if (buffer.isReadOnly()) {
			throw new IllegalArgumentException(name + " is read-only");
		}
		if (anyAllowed) {
			requireMatchable(source, tag);
			return;
		}
		RankOutOfRangeException.check("source", source, this.identity.worldSize());
		requireTag(tag);
	}

	private void requireMatchable(int source, int tag) {
		if (source != Message.ANY_SOURCE) {
			RankOutOfRangeException.check("source", source, this.identity.worldSize());
		}
		if (tag != Message.ANY_TAG) {
			requireTag(tag);
		}
	}

	private static void requireTag(int tag) {
		if (tag < 0) {
			throw new IllegalArgumentException("tag must be in 0.." + Integer.MAX_VALUE + ", got " + tag);
		}
	}

	private void requireUsable(String name, MemorySegment buffer, DataType type) {
		BufferValidation.requireUsable(name, buffer);
		Objects.requireNonNull(type, "type must not be null");
		this.backend.requireMessageMemory(buffer);
		if (buffer.byteSize() % type.bytes() != 0) {
			throw new IllegalArgumentException(name + " of " + buffer.byteSize() + " bytes is not whole elements of "
					+ type + " (" + type.bytes() + " bytes each)");
		}
	}

}
