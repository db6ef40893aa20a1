package io.tutti.engine.bootstrap;

import io.tutti.engine.control.ControlMessage.Hello;
import io.tutti.engine.control.RendezvousException.Reason;

/**
 * Decides which clients join one generation of a job.
 *
 * @param jobId the job
 * @param generation number of times the group has formed before
 * @param worldSize number of ranks
 */
record JoinPolicy(String jobId, long generation, int worldSize) {

	/** Accepts the generation that rank 0 chooses. */
	static final long ANY_GENERATION = -1;

	/**
	 * Checks a client, except whether its rank is free.
	 * @throws HandshakeException if the client must be refused
	 */
	void check(Hello hello) throws HandshakeException {
		if (!hello.jobId().equals(this.jobId)) {
			throw new HandshakeException(Reason.JOB,
					"the rendezvous address belongs to job " + this.jobId + ", not " + hello.jobId()
							+ "; give each job its own master port, or every rank the same tutti.rendezvous.job-id");
		}
		if (hello.worldSize() != this.worldSize) {
			throw new HandshakeException(Reason.WORLD_SIZE, "rank 0 has world size " + this.worldSize + ", rank "
					+ hello.rank() + " has " + hello.worldSize() + "; start every rank with the same world size");
		}
		if (hello.generation() != ANY_GENERATION && hello.generation() < this.generation) {
			throw new HandshakeException(Reason.STALE_GENERATION, "the group is in generation " + this.generation
					+ ", the client in generation " + hello.generation() + ", which has ended; end this process");
		}
		if (hello.generation() > this.generation) {
			throw new HandshakeException(null, "rank 0 is still in generation " + this.generation
					+ ", the client in generation " + hello.generation() + "; waiting for a new rank 0");
		}
		if (hello.rank() < 0 || hello.rank() >= this.worldSize) {
			throw new HandshakeException(Reason.PROTOCOL,
					"a rank must be in 0.." + (this.worldSize - 1) + ", got " + hello.rank());
		}
	}

	/** Refuses a client whose rank has left the formed group or is lost. */
	static HandshakeException abandoned(int rank) {
		return new HandshakeException(null,
				"the group has formed and lost rank " + rank + "; waiting for it to form again");
	}

}
