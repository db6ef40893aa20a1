package io.tutti.engine.control;

import io.tutti.engine.control.ControlMessage.LabelledRequest;

/**
 * Handles at rank 0 the requests that the coordinator does not handle itself. Never
 * blocks. Not thread safe.
 */
public interface RequestHandler {

	/** A rank has sent a request. */
	void receive(int rank, LabelledRequest request);

	/** A rank has left or is lost. */
	void forget(int rank);

	/** Handles the deadlines that have passed. */
	void tick();

	/** Nanoseconds until {@link #tick()} is due, {@link Long#MAX_VALUE} for never. */
	long nanosUntilDue();

}
