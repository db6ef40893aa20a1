package io.tutti.engine.backend.mpi;

import io.tutti.Message;

/**
 * Result of an operation.
 *
 * @param source the sender's rank, {@link Mpi#PROC_NULL} if there was no message
 * @param tag the message's tag, {@link Mpi#ANY_TAG} if there was no message
 * @param count number of elements received; 0 for a send or a collective
 */
public record Status(int source, int tag, long count) {

	/** Status of an operation that receives nothing. */
	static final Status EMPTY = new Status(Mpi.PROC_NULL, Mpi.ANY_TAG, 0);

	static Status of(Message message) {
		return new Status(message.source(), message.tag(), message.count());
	}

}
