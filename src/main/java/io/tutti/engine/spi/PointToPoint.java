package io.tutti.engine.spi;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.tutti.CollectiveException;
import io.tutti.DataType;
import io.tutti.Message;
import io.tutti.MessageMismatchException;

/**
 * Messages from one rank of a group to another, outside the order of its collectives.
 * Messages between two ranks keep their order: a receive takes the first message that
 * matches it, and a message goes to the first posted receive that matches it. Safe for
 * any number of threads.
 * <p>
 * Every method throws an {@link IllegalArgumentException} for a bad argument before any
 * data is sent, a {@link MessageMismatchException} if a message does not fit the receive,
 * and a {@link CollectiveException} if the group is or becomes broken.
 */
public interface PointToPoint extends AutoCloseable {

	/**
	 * Sends a message. A small message may still be in transit when this returns; a large
	 * one has arrived.
	 */
	void send(MemorySegment buffer, DataType type, int peer, int tag, Duration timeout);

	/** As {@link #send} without waiting. */
	CompletableFuture<Void> sendAsync(MemorySegment buffer, DataType type, int peer, int tag, Duration timeout);

	/**
	 * Receives from one rank with one tag.
	 * @return the number of elements received
	 */
	long receive(MemorySegment buffer, DataType type, int source, int tag, Duration timeout);

	/**
	 * Receives a message; the source may be {@link Message#ANY_SOURCE} and the tag
	 * {@link Message#ANY_TAG}.
	 */
	Message receiveAny(MemorySegment buffer, DataType type, int source, int tag, Duration timeout);

	/** As {@link #receiveAny} without waiting. */
	CompletableFuture<Message> receiveAsync(MemorySegment buffer, DataType type, int source, int tag, Duration timeout);

	/**
	 * Sends one message and receives another at the same time.
	 * @return the number of elements received
	 */
	long sendReceive(MemorySegment send, int peer, MemorySegment receive, int source, DataType type, int tag,
			Duration timeout);

	/** Wakes waiting calls, so that they detect a failure of the group. */
	void wake();

	/**
	 * Sends the queued messages of sends that have returned, fails waiting calls, and
	 * releases connections and memory.
	 * @throws CollectiveException if the queued messages cannot be sent within the drain
	 * limit
	 */
	@Override
	void close();

}
