package io.tutti.service.rest;

import io.tutti.engine.backend.JoinedGroup;
import io.tutti.engine.control.RoundWait;
import io.tutti.engine.spi.Deadline;

/**
 * A client's call of a labelled barrier or collective, as problems name it.
 *
 * @param collective name of the collective
 * @param round label, round and timeout
 * @param generation generation of the group in which it runs
 * @param deadline measures how long it has run
 */
record RunningCall(String collective, RoundWait round, JoinedGroup generation, Deadline deadline) {

	static RunningCall start(String collective, RoundWait round, JoinedGroup generation) {
		return new RunningCall(collective, round, generation, Deadline.after(round.timeout()));
	}

}
