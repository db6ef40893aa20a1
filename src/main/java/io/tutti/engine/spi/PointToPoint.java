package io.tutti.engine.spi;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.tutti.CollectiveException;
import io.tutti.CollectiveTimeoutException;
import io.tutti.DataType;
import io.tutti.Message;
import io.tutti.MessageMismatchException;
import org.jspecify.annotations.Nullable;

/**
 * Messages from one rank of a group to another, outside the order of its collectives.
 * Messages between two ranks keep their order: a receive takes the first message that
 * matches it, and a message goes to the first posted receive that matches it. Safe for
 * any number of threads.
 * <p>
 * A receive, a probe or a send whose deadline passes before a message has matched fails
 * alone with a {@link CollectiveTimeoutException}: it is withdrawn, the group stays
 * usable, and later messages match later receives. To withdraw a send, the rank asks its
 * receiver, and the send fails with the answer; where none arrives within two seconds,
 * the group breaks. A send whose bytes are already on their way to memory that the
 * receiver has granted is copied and succeeds instead. A deadline that passes after the
 * match, while data moves, and any deadline of {@link #sendReceive}, breaks the group.
 * <p>
 * The group checks buffers, types, ranks and tags before it calls a method. Every method
 * throws a {@link MessageMismatchException} if a message does not fit the receive, and a
 * {@link CollectiveException} if the group is or becomes broken.
 */
public interface PointToPoint extends AutoCloseable {

	/**
	 * Sends a message. A small message may still be in transit when this returns; a large
	 * one has arrived.
	 */
	void send(MemorySegment buffer, DataType type, int peer, int tag, Duration timeout);

	/**
	 * As {@link #send} without waiting.
	 * @return the message with the peer in place of the source
	 */
	CompletableFuture<Message> sendAsync(MemorySegment buffer, DataType type, int peer, int tag, Duration timeout);

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
	 * Waits for a message without receiving it; the source and the tag may be any. The
	 * next matching receive on this rank receives it.
	 * @return its source, its tag and its number of elements
	 */
	Message probe(int source, int tag, Duration timeout);

	/**
	 * As {@link #probe} without waiting for a message.
	 * @param timeout how long the search may take where another thread makes it
	 * @return {@code null} if no message matches
	 */
	@Nullable Message peek(int source, int tag, Duration timeout);

	/**
	 * Cancels an asynchronous send or receive that no message has matched. Waits for the
	 * answer of a send's receiver, at most until the send's deadline. The message of a
	 * small send may be in transit before it is received; such a send has matched.
	 * @param operation the future that {@link #sendAsync} or {@link #receiveAsync}
	 * returned
	 * @return whether it was cancelled: its future has ended with a
	 * {@link java.util.concurrent.CancellationException}, and no message was sent or
	 * received; otherwise it completes as if not cancelled
	 */
	boolean cancel(CompletableFuture<Message> operation);

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
	 * releases connections and memory. A waiting call breaks the group on every rank.
	 * @throws CollectiveException if the queued messages cannot be sent within the drain
	 * limit
	 */
	@Override
	void close();

	/**
	 * As {@link #close} for a rank that leaves the job: its waiting calls are no failure
	 * of the other ranks, which learn that it has left. An MPI library cannot end them
	 * without the job, so that closing and leaving are the same there.
	 */
	default void leave() {
		close();
	}

}
