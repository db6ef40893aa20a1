package io.tutti.engine.backend;

import io.tutti.BackendUnavailableException;
import io.tutti.CollectiveListener;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.libmpi.MpiLibrary;
import io.tutti.engine.backend.libmpi.MpiWorld;
import io.tutti.engine.bootstrap.Rendezvous;
import io.tutti.engine.control.Membership;
import io.tutti.engine.dispatch.DefaultProcessGroup;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.CleanUp;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.GroupIdentity;

/**
 * The backend {@code mpi}: MPI launch rules, executed by the built-in engine or, if one
 * is configured, by an MPI library.
 */
final class MpiBackend implements Backend {

	@Override
	public String name() {
		return Backends.MPI;
	}

	@Override
	public Availability availability(EngineSettings settings) {
		String library = settings.mpiLibrary();
		if (library == null) {
			return Availability.yes("our own algorithms over TCP and shared memory; no MPI library was asked for");
		}
		try {
			return Availability.yes(MpiLibrary.load(library).version());
		}
		catch (BackendUnavailableException ex) {
			return Availability.no(ex.problem(), ex.action());
		}
	}

	@Override
	public Engine join(RankAssignment assignment, EngineSettings settings, CollectiveListener events) {
		String library = settings.mpiLibrary();
		return (library == null) ? Engine.bootstrap(assignment, settings, events, null)
				: bootstrap(MpiLibrary.load(library), assignment, settings, events);
	}

	private static Engine bootstrap(MpiLibrary library, RankAssignment assignment, EngineSettings settings,
			CollectiveListener events) {
		Deadline deadline = Deadline.after(settings.timeouts().rendezvous());
		MpiWorld mpi = MpiWorld.start(library, assignment.rank(), assignment.worldSize(), deadline);
		return CleanUp.orElse(() -> {
			requireSameWorld(mpi, assignment);
			return join(mpi, assignment, settings, events, deadline);
		}, () -> mpi.close(Deadline.after(settings.timeouts().abort())));
	}

	private static Engine join(MpiWorld mpi, RankAssignment assignment, EngineSettings settings,
			CollectiveListener events, Deadline deadline) {
		LibMpiBootstrap bootstrap = LibMpiBootstrap.agree(mpi, settings.bindAddress(), deadline);
		EngineSettings agreed = (settings.token() != null) ? settings : settings.withToken(bootstrap.secret());
		GroupRegistry registry = new GroupRegistry(events);
		FailureLatch latch = registry.add(GroupIdentity.world(assignment.rank(), assignment.worldSize(), 0));
		Membership membership = Rendezvous.join(bootstrap.assignment(assignment), Engine.rendezvous(agreed, 0),
				registry, deadline);
		return CleanUp.orElse(() -> {
			DefaultProcessGroup world = new LibMpiGroups(mpi, membership.control(), registry, settings.timeouts())
				.form(GroupIdentity.world(assignment.rank(), assignment.worldSize(), membership.generation()), latch);
			return new Engine(membership, registry, world, new LibMpiRuntime(mpi, settings.timeouts(), events));
		}, membership.control()::close);
	}

	/**
	 * Checks that the library and the launcher match: under another launcher, the library
	 * sees each process as a world of its own.
	 */
	private static void requireSameWorld(MpiWorld mpi, RankAssignment assignment) {
		if (mpi.worldSize() != assignment.worldSize() || mpi.rank() != assignment.rank()) {
			throw new BackendUnavailableException(Backends.MPI,
					"by the launcher this is rank " + assignment.rank() + " of " + assignment.worldSize() + ", by "
							+ mpi.version() + " it is rank " + mpi.rank() + " of " + mpi.worldSize(),
					"Set tutti.mpi.library to the library that the launcher belongs to: openmpi under mpirun of Open "
							+ "MPI, mpich under mpiexec of MPICH, or its path");
		}
	}

}
