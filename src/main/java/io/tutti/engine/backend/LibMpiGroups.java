package io.tutti.engine.backend;

import io.tutti.BackendUnavailableException;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.libmpi.LibMpiGroupBackend;
import io.tutti.engine.backend.libmpi.LibMpiMessages;
import io.tutti.engine.backend.libmpi.MpiCommunicator;
import io.tutti.engine.backend.libmpi.MpiWorld;
import io.tutti.engine.control.ControlPlane;
import io.tutti.engine.dispatch.DefaultProcessGroup;
import io.tutti.engine.dispatch.GroupFactory;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.CleanUp;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.PointToPoint;

/**
 * Forms one rank's groups on an MPI library, each with its own communicator.
 */
record LibMpiGroups(MpiWorld world, ControlPlane control, GroupRegistry registry, Timeouts timeouts) {

	/** Creates the messages of a group, over its communicator, and its subgroups. */
	private record Formed(LibMpiGroups groups, GroupIdentity identity, FailureLatch latch,
			MpiCommunicator communicator) implements GroupFactory {

		@Override
		public PointToPoint pointToPoint(GroupIdentity identity, FailureLatch latch) {
			return new LibMpiMessages(identity, this.communicator, latch);
		}

		/**
		 * A subgroup that the library does not create in time breaks this group: the
		 * library's thread is still busy, so that no call can inform the other ranks.
		 */
		@Override
		public DefaultProcessGroup group(GroupIdentity subgroup) {
			try {
				return this.groups.registry.form(subgroup, this.groups::form);
			}
			catch (BackendUnavailableException ex) {
				throw this.latch
					.reportAndAwaitVerdict(this.identity.exception(this.identity.aborted(ex.problem()), ex));
			}
		}

	}

	/** Forms a group whose latch is registered. */
	DefaultProcessGroup form(GroupIdentity identity, FailureLatch latch) {
		return form(identity, latch, Deadline.after(this.timeouts.rendezvous()));
	}

	/** Forms a group whose communicator is created by the deadline. */
	DefaultProcessGroup form(GroupIdentity identity, FailureLatch latch, Deadline deadline) {
		MpiCommunicator communicator = this.world.communicator(identity.members(), identity.name(), deadline);
		// Covers the wait for the verdict and leaves the program time to report the
		// failure.
		LibMpiGroupBackend backend = new LibMpiGroupBackend(Backends.MPI, identity, communicator, latch,
				this.timeouts.abort().multipliedBy(2));
		return CleanUp.orElse(() -> this.registry.ready(new DefaultProcessGroup(identity, backend, latch, this.control,
				this.timeouts, new Formed(this, identity, latch, communicator))), backend::close);
	}

}
