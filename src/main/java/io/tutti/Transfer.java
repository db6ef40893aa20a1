package io.tutti;

import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * One send or receive of {@link ProcessGroup#startAll}.
 *
 * @param direction whether it sends or receives
 * @param buffer the message, or the memory for it
 * @param type its element type
 * @param peer the rank to send to or to receive from; {@link Message#ANY_SOURCE} for a
 * receive from any rank
 * @param tag the message's tag; {@link Message#ANY_TAG} for a receive with any tag
 */
public record Transfer(Direction direction, MemorySegment buffer, DataType type, int peer, int tag) {

	/** Whether a transfer sends or receives. */
	public enum Direction {

		/** Sends a message. */
		SEND,
		/** Receives a message. */
		RECEIVE

	}

	/** Checks the direction; the group checks the rest. */
	public Transfer {
		Objects.requireNonNull(direction, "direction must not be null");
	}

	/**
	 * Sends a message, as {@link ProcessGroup#sendAsync} does.
	 * @param buffer memory of the call
	 * @param type element type of the message
	 * @param peer rank to send to or to receive from
	 * @param tag tag of the message, 0 or more
	 * @return the send
	 */
	public static Transfer send(MemorySegment buffer, DataType type, int peer, int tag) {
		return new Transfer(Direction.SEND, buffer, type, peer, tag);
	}

	/**
	 * Receives a message, as {@link ProcessGroup#receiveAsync} does.
	 * @param buffer memory of the call
	 * @param type element type of the message
	 * @param source rank to receive from
	 * @param tag tag of the message, 0 or more
	 * @return the receive
	 */
	public static Transfer receive(MemorySegment buffer, DataType type, int source, int tag) {
		return new Transfer(Direction.RECEIVE, buffer, type, source, tag);
	}

}
