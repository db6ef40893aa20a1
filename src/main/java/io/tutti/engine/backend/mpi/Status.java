package io.tutti.engine.backend.mpi;

import io.tutti.engine.Message;

/**
 * What came of an operation.
 *
 * @param source the rank that sent, {@link Mpi#PROC_NULL} where nobody did
 * @param tag the tag it sent with, {@link Mpi#ANY_TAG} where nobody did
 * @param count how many elements came; 0 of a collective
 */
public record Status(int source, int tag, long count) {

	/** Of what receives nothing. */
	static final Status EMPTY = new Status(Mpi.PROC_NULL, Mpi.ANY_TAG, 0);

	static Status of(Message message) {
		return new Status(message.source(), message.tag(), message.count());
	}

}
