package io.tutti.engine.backend;

import io.tutti.CollectiveListener;
import io.tutti.Failure;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.libmpi.MpiWorld;
import io.tutti.engine.spi.Deadline;

/**
 * The world of an MPI library. The library cannot cancel operations that have started, so
 * after a failure the job ends by {@code MPI_Abort} with the exit code of the failure.
 */
record LibMpiRuntime(MpiWorld world, Timeouts timeouts, CollectiveListener events) implements JobRuntime {

	@Override
	public void leaving() {
		Failure cause = this.world.fatalFailure();
		if (cause != null) {
			abort(cause.exitCode(), cause.describe());
		}
	}

	@Override
	public void abort(int code, String reason) {
		this.events
			.warn("the group is broken, so the MPI job ends by MPI_Abort with exit code " + code + ": " + reason);
		this.world.abort(code);
	}

	@Override
	public void close() {
		if (!this.world.close(Deadline.after(this.timeouts.drain()))) {
			this.events.warn("the MPI library did not end within " + this.timeouts.drain()
					+ ": another rank has not left its group");
		}
	}

}
