package io.tutti.engine.backend.mpi;

import java.io.UncheckedIOException;

import io.tutti.engine.BackendUnavailableException;
import io.tutti.engine.CollectiveListener;
import io.tutti.engine.Message;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.Availability;
import io.tutti.engine.backend.Backends;
import io.tutti.engine.backend.Engine;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.control.RendezvousException;
import org.jspecify.annotations.Nullable;

/**
 * The MPI world of this process, from {@code MPI_Init} to {@code MPI_Finalize}: on our
 * own engine, or on an MPI library where the settings name one. Of the launcher's
 * variables it knows nothing; {@code io.tutti.launch.MpiEnvironment} reads those. Safe
 * for any number of threads ({@code MPI_THREAD_MULTIPLE}).
 */
public final class Mpi implements AutoCloseable {

	/** In place of a source: from any rank. */
	public static final int ANY_SOURCE = Message.ANY_SOURCE;

	/** In place of a tag: with any tag. */
	public static final int ANY_TAG = Message.ANY_TAG;

	/**
	 * In place of a peer: nobody. What is sent there is dropped, what is received from
	 * there is empty. Not a number that a slip in arithmetic comes to.
	 */
	public static final int PROC_NULL = Integer.MIN_VALUE + 1;

	/** In place of a colour: in no group. */
	public static final int UNDEFINED = -32766;

	private static final double NANOS_PER_SECOND = 1e9;

	private final Engine engine;

	private final Communicator world;

	private Mpi(Engine engine) {
		this.engine = engine;
		this.world = new Communicator(engine.world(), this::abort);
	}

	/**
	 * Joins the world that this rank belongs to, on our own engine.
	 * @param masterAddress where rank 0 listens, as {@code host:port} or {@code host} for
	 * port 29500; an IPv6 address in brackets
	 * @throws InvalidWorldSizeException if there is no such world
	 * @throws InvalidRankException if there is no such rank in it
	 * @throws MpiIoException if the address cannot be listened on
	 * @throws RendezvousException if the ranks do not meet
	 */
	public static Mpi init(int rank, int worldSize, String masterAddress) {
		if (worldSize < 1) {
			throw new InvalidWorldSizeException(worldSize);
		}
		if (rank < 0 || rank >= worldSize) {
			throw new InvalidRankException("rank", rank, worldSize);
		}
		return init(MasterAddress.assignment(rank, worldSize, masterAddress), settings(null));
	}

	/**
	 * Joins the world that an assignment describes.
	 * @param settings how; {@link #settings} gives the usual ones
	 * @throws BackendUnavailableException if the MPI library cannot be used
	 * @throws MpiIoException if an address cannot be listened on
	 * @throws RendezvousException if the ranks do not meet
	 */
	public static Mpi init(RankAssignment assignment, EngineSettings settings) {
		try {
			return new Mpi(Engine.join(assignment, settings.withBackend(Backends.MPI, settings.mpiLibrary()),
					new WarningsOnStderr()));
		}
		catch (RendezvousException ex) {
			throw (ex.reason() == RendezvousException.Reason.ADDRESS) ? unreachable(assignment, ex) : ex;
		}
		catch (UncheckedIOException ex) {
			throw unreachable(assignment, ex);
		}
	}

	/**
	 * The defaults that the documentation names, with an MPI library or without.
	 * @param library {@code openmpi}, {@code mpich}, a path, or {@code null} for our own
	 * engine
	 */
	public static EngineSettings settings(@Nullable String library) {
		return EngineSettings.DEFAULTS.withBackend(Backends.MPI, library);
	}

	private static MpiIoException unreachable(RankAssignment assignment, RuntimeException cause) {
		return new MpiIoException(assignment.masterAddress() + ":" + assignment.masterPort(),
				String.valueOf(cause.getMessage()), cause);
	}

	/** Whether the world could be joined with such settings; starts nothing. */
	public static boolean isAvailable(EngineSettings settings) {
		return availability(settings).available();
	}

	/** As {@link #isAvailable}, with the reason. */
	public static Availability availability(EngineSettings settings) {
		return Backends.availability(Backends.MPI, settings);
	}

	/** {@code MPI_COMM_WORLD}: every rank. */
	public Communicator world() {
		return this.world;
	}

	/** {@code MPI_Wtime}: seconds since some point in the past. */
	public static double wtime() {
		return System.nanoTime() / NANOS_PER_SECOND;
	}

	/**
	 * {@code MPI_Abort}: ends the job. On an MPI library every process ends with the
	 * code, and this does not return; on our own engine the calls of every rank fail,
	 * naming this rank and the code.
	 */
	public void abort(int code) {
		this.engine.abort(code, "MPI_Abort was called with code " + code);
	}

	/**
	 * {@code MPI_Finalize}: leaves the world. Where something has failed on an MPI
	 * library, the process ends here with the exit code of the failure.
	 */
	@Override
	public void close() {
		this.engine.close();
	}

	/** A program with no logging still wants to hear what is wrong. */
	private static final class WarningsOnStderr implements CollectiveListener {

		@Override
		public void warn(String message) {
			System.err.println("tutti: " + message);
		}

	}

}
