package io.tutti.engine.dispatch;

import java.lang.foreign.MemorySegment;
import java.util.Objects;

import io.tutti.DataType;
import io.tutti.Message;
import io.tutti.RankOutOfRangeException;

/**
 * Checks of a message's arguments before anything is sent.
 */
final class MessageArguments {

	private final int worldSize;

	MessageArguments(int worldSize) {
		this.worldSize = worldSize;
	}

	void requireSend(MemorySegment buffer, DataType type, int peer, int tag) {
		requireUsable("send", buffer, type);
		RankOutOfRangeException.check("peer", peer, this.worldSize);
		requireTag(tag);
	}

	void requireReceive(MemorySegment buffer, DataType type, int source, int tag, boolean anyAllowed) {
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

	void requireProbe(int source, int tag) {
		if (source != Message.ANY_SOURCE) {
			RankOutOfRangeException.check("source", source, this.worldSize);
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

	private static void requireUsable(String name, MemorySegment buffer, DataType type) {
		BufferValidation.requireUsable(name, buffer);
		Objects.requireNonNull(type, "type must not be null");
		if (buffer.byteSize() % type.bytes() != 0) {
			throw new IllegalArgumentException(name + " buffer of " + buffer.byteSize()
					+ " bytes is not whole elements of " + type + " (" + type.bytes() + " bytes each)");
		}
	}

}
