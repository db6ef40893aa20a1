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
 * Between two ranks messages keep their order: a receive takes the first that matches it,
 * and a message goes to the first receive that matches it, in the order they were posted.
 * Safe for any number of threads.
 * <p>
 * Every method throws an {@link IllegalArgumentException} for a bad argument before
 * anything is sent, a {@link MessageMismatchException} where a message does not fit the
 * receive, and a {@link CollectiveException} when the group is or becomes broken.
 */
public interface PointToPoint extends AutoCloseable {

	/**
	 * Sends. A small message need not have arrived when this returns; a large one has.
	 */
	void send(MemorySegment buffer, DataType type, int peer, int tag, Duration timeout);

	/** As {@link #send} without waiting. */
	CompletableFuture<Void> sendAsync(MemorySegment buffer, DataType type, int peer, int tag, Duration timeout);

	/**
	 * Receives from one rank with one tag.
	 * @return how many elements came
	 */
	long receive(MemorySegment buffer, DataType type, int source, int tag, Duration timeout);

	/**
	 * Receives, where the source may be {@link Message#ANY_SOURCE} and the tag
	 * {@link Message#ANY_TAG}.
	 */
	Message receiveAny(MemorySegment buffer, DataType type, int source, int tag, Duration timeout);

	/** As {@link #receiveAny} without waiting. */
	CompletableFuture<Message> receiveAsync(MemorySegment buffer, DataType type, int source, int tag, Duration timeout);

	/**
	 * Sends one message and receives another, both at once.
	 * @return how many elements came
	 */
	long sendReceive(MemorySegment send, int peer, MemorySegment receive, int source, DataType type, int tag,
			Duration timeout);

	/** Wakes calls that wait, so that they see a failure of the group. */
	void wake();

	/**
	 * Sends what is queued for sends that have returned, fails calls that wait, and
	 * releases connections and memory.
	 * @throws CollectiveException if the queued messages cannot be sent within the drain
	 * limit
	 */
	@Override
	void close();

}
