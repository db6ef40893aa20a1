package io.tutti.engine.bootstrap;

import io.tutti.engine.control.ControlMessage.Hello;
import io.tutti.engine.control.ControlMessage.Refused;
import io.tutti.engine.control.RendezvousException.Reason;
import org.jspecify.annotations.Nullable;

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

	/** State of a rank's place. */
	enum Slot {

		/** No process has joined as the rank. */
		FREE,
		/** A live process has joined as the rank. */
		TAKEN,
		/** The group has formed, and the rank has left or is lost. */
		ABANDONED

	}

	/** The reason to reject the client whatever the place's state, or {@code null}. */
	@Nullable Refused judge(Hello hello) {
		if (!hello.jobId().equals(this.jobId)) {
			return new Refused(Reason.JOB,
					"the rendezvous address belongs to job " + this.jobId + ", not " + hello.jobId()
							+ "; give each job its own master port, or every rank the same tutti.rendezvous.job-id");
		}
		if (hello.worldSize() != this.worldSize) {
			return new Refused(Reason.WORLD_SIZE, "rank 0 was told a world size of " + this.worldSize + ", rank "
					+ hello.rank() + " one of " + hello.worldSize() + "; start every rank with the same world size");
		}
		if (hello.generation() != ANY_GENERATION && hello.generation() < this.generation) {
			return new Refused(Reason.STALE_GENERATION, "the group forms for the time " + this.generation
					+ ", the client belongs to " + hello.generation() + ", which is over; end this process");
		}
		if (hello.generation() > this.generation) {
			return new Refused(null, "rank 0 still belongs to generation " + this.generation + ", the client to "
					+ hello.generation() + "; waiting for a new rank 0");
		}
		if (hello.rank() < 0 || hello.rank() >= this.worldSize) {
			return new Refused(Reason.PROTOCOL,
					"a rank must be in 0.." + (this.worldSize - 1) + ", got " + hello.rank());
		}
		return null;
	}

	/** The reason to reject the client for this state, or {@code null}. */
	@Nullable Refused judge(Hello hello, Slot seat) {
		return switch (seat) {
			case FREE -> null;
			case TAKEN -> new Refused(Reason.DUPLICATE_RANK,
					"another process already is rank " + hello.rank() + "; give every process a rank of its own");
			case ABANDONED -> new Refused(null,
					"the group has formed and lost rank " + hello.rank() + "; waiting for it to form anew");
		};
	}

}
