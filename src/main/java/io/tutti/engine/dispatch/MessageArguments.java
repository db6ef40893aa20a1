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
record MessageArguments(GroupIdentity identity, GroupBackend backend) {

	/**
	 * @param asynchronous whether another thread may access the buffer
	 */
	void requireSend(MemorySegment buffer, DataType type, int peer, int tag, boolean asynchronous) {
		try {
			requireSource("buffer", buffer, type, peer, tag, asynchronous);
		}
		catch (IllegalArgumentException | NullPointerException | UnsupportedOperationException ex) {
			throw RefusedCall.at(this.identity, "send", ex);
		}
	}

	/**
	 * @param anyAllowed whether the source and the tag may be any
	 * @param asynchronous whether another thread may access the buffer
	 */
	void requireReceive(MemorySegment buffer, DataType type, int source, int tag, boolean anyAllowed,
			boolean asynchronous) {
		try {
			requireDestination("buffer", buffer, type, asynchronous);
			requireMatchable(source, tag, anyAllowed);
		}
		catch (IllegalArgumentException | NullPointerException | UnsupportedOperationException ex) {
			throw RefusedCall.at(this.identity, "receive", ex);
		}
	}

	void requireProbe(int source, int tag) {
		try {
			requireMatchable(source, tag, true);
		}
		catch (IllegalArgumentException ex) {
			throw RefusedCall.at(this.identity, "probe", ex);
		}
	}

	void requireSendReceive(MemorySegment send, int peer, MemorySegment receive, int source, DataType type, int tag) {
		try {
			requireSource("send buffer", send, type, peer, tag, false);
			requireDestination("receive buffer", receive, type, false);
			requireMatchable(source, tag, false);
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
			case SEND -> requireSend(transfer.buffer(), transfer.type(), transfer.peer(), transfer.tag(), true);
			case RECEIVE ->
				requireReceive(transfer.buffer(), transfer.type(), transfer.peer(), transfer.tag(), true, true);
		}
	}

	private void requireSource(String name, MemorySegment buffer, DataType type, int peer, int tag,
			boolean asynchronous) {
		requireUsable(name, buffer, type, asynchronous);
		RankOutOfRangeException.check("peer", peer, this.identity.worldSize());
		requireTag(tag);
	}

	private void requireDestination(String name, MemorySegment buffer, DataType type, boolean asynchronous) {
		requireUsable(name, buffer, type, asynchronous);
		if (buffer.isReadOnly()) {
			throw new IllegalArgumentException(name + " is read-only");
		}
	}

	private void requireMatchable(int source, int tag, boolean anyAllowed) {
		if (!anyAllowed && (source == Message.ANY_SOURCE || tag == Message.ANY_TAG)) {
			throw new IllegalArgumentException(
					"source and tag must be given; receiveAny, receiveAsync and probe take ANY_SOURCE and ANY_TAG");
		}
		if (source != Message.ANY_SOURCE) {
			RankOutOfRangeException.check("source", source, this.identity.worldSize());
		}
		if (tag != Message.ANY_TAG) {
			requireTag(tag);
		}
	}

	private void requireTag(int tag) {
		int largest = this.backend.largestTag();
		if (tag < 0 || tag > largest) {
			throw new IllegalArgumentException(
					"tag must be in 0.." + largest + " on the backend " + this.backend.name() + ", got " + tag);
		}
	}

	private void requireUsable(String name, MemorySegment buffer, DataType type, boolean asynchronous) {
		BufferValidation.requireUsable(name, buffer, asynchronous);
		Objects.requireNonNull(type, "type must not be null");
		this.backend.requireMessageMemory(buffer);
		if (buffer.byteSize() % type.bytes() != 0) {
			throw new IllegalArgumentException(name + " of " + buffer.byteSize() + " bytes is not whole elements of "
					+ type + " (" + type.bytes() + " bytes each)");
		}
		long count = buffer.byteSize() / type.bytes();
		if (count > this.backend.largestCount()) {
			throw new IllegalArgumentException(name + " must have 0.." + this.backend.largestCount()
					+ " elements on the backend " + this.backend.name() + ", got " + count);
		}
	}

}
