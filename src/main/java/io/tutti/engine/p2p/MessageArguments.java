package io.tutti.engine.p2p;

import java.lang.foreign.MemorySegment;
import java.util.Objects;

import io.tutti.DataType;
import io.tutti.Message;
import io.tutti.RankOutOfRangeException;

/**
 * Checks of a message's arguments before anything is sent.
 */
public final class MessageArguments {

	private final int worldSize;

	public MessageArguments(int worldSize) {
		this.worldSize = worldSize;
	}

	public void requireSend(MemorySegment buffer, DataType type, int peer, int tag) {
		requireUsable("send", buffer, type);
		RankOutOfRangeException.check("peer", peer, this.worldSize);
		requireTag(tag);
	}

	public void requireReceive(MemorySegment buffer, DataType type, int source, int tag, boolean anyAllowed) {
		requireUsable("receive", buffer, type);
		if (buffer.isReadOnly()) {
			throw new IllegalArgumentException("receive buffer is read-only");
		}
		if (anyAllowed) {
			requireProbe(source, tag);
			return;
		}
		RankOutOfRangeException.check("source", source, this.worldSize);
		requireTag(tag);
	}

	public void requireProbe(int source, int tag) {
		if (source != Message.ANY_SOURCE) {
			RankOutOfRangeException.check("source", source, this.worldSize);
		}
		if (tag != Message.ANY_TAG) {
			requireTag(tag);
		}
	}

	public static void requireDisjoint(MemorySegment send, MemorySegment receive) {
		boolean overlap = (send.isNative() && receive.isNative())
				? send.address() < receive.address() + receive.byteSize()
						&& receive.address() < send.address() + send.byteSize()
				: send.asOverlappingSlice(receive).isPresent();
		if (overlap && send.byteSize() > 0 && receive.byteSize() > 0) {
			throw new IllegalArgumentException("send and receive buffers must not overlap");
		}
	}

	private static void requireTag(int tag) {
		if (tag < 0) {
			throw new IllegalArgumentException("tag must be in 0.." + Integer.MAX_VALUE + ", got " + tag);
		}
	}

	private static void requireUsable(String name, MemorySegment buffer, DataType type) {
		Objects.requireNonNull(buffer, () -> name + " buffer must not be null");
		Objects.requireNonNull(type, "type must not be null");
		if (!buffer.scope().isAlive()) {
			throw new IllegalArgumentException(name + " buffer is closed");
		}
		if (!buffer.isAccessibleBy(Thread.currentThread())) {
			throw new IllegalArgumentException(
					name + " buffer belongs to another thread; use a shared or automatic arena");
		}
		if (buffer.byteSize() % type.bytes() != 0) {
			throw new IllegalArgumentException(name + " buffer of " + buffer.byteSize()
					+ " bytes is not whole elements of " + type + " (" + type.bytes() + " bytes each)");
		}
	}

}
