package io.tutti.engine.backend.mpi;

import java.io.UncheckedIOException;

import io.tutti.BackendUnavailableException;
import io.tutti.CollectiveListener;
import io.tutti.ExitCode;
import io.tutti.Message;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.Availability;
import io.tutti.engine.backend.Backends;
import io.tutti.engine.backend.Engine;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.bootstrap.Endpoint;
import io.tutti.engine.control.RendezvousException;
import org.jspecify.annotations.Nullable;

/**
 * The MPI world of this process, from {@code MPI_Init} to {@code MPI_Finalize}: on
 * Tutti's own engine, or on an MPI library if the settings name one. It does not read the
 * launcher's variables; {@code io.tutti.launch.standalone.MpiEnvironment} does.
 * Thread-safe ({@code MPI_THREAD_MULTIPLE}).
 */
public final class Mpi implements AutoCloseable {

	/** Source wildcard: any rank. */
	public static final int ANY_SOURCE = Message.ANY_SOURCE;

	/** Tag wildcard: any tag. */
	public static final int ANY_TAG = Message.ANY_TAG;

	/**
	 * Null peer: a send to it is dropped, a receive from it is empty. The value is
	 * unlikely to result from an error in rank arithmetic.
	 */
	public static final int PROC_NULL = Integer.MIN_VALUE + 1;

	private static final int EXIT_CODE_BITS = 0xff;

	/** Color of a rank that joins no group. */
	public static final int UNDEFINED = -32766;

	private static final double NANOS_PER_SECOND = 1e9;

	private final Engine engine;

	private final Communicator world;

	private Mpi(Engine engine) {
		this.engine = engine;
		this.world = new Communicator(engine.world(), this::abort);
	}

	/**
	 * Joins the world on Tutti's own engine.
	 * @param rank this process's rank, in {@code 0..worldSize-1}
	 * @param worldSize number of ranks, at least 1
	 * @param masterAddress address on which rank 0 listens, as {@code host:port} or
	 * {@code host} for port 29500; an IPv6 address in brackets
	 * @return MPI, initialized: every rank has joined
	 * @throws InvalidWorldSizeException if the world size is less than 1
	 * @throws InvalidRankException if the rank is not in the world
	 * @throws MpiIoException if rank 0 cannot listen on the address
	 * @throws RendezvousException if the rendezvous fails
	 */
	public static Mpi init(int rank, int worldSize, String masterAddress) {
		return init(rank, worldSize, masterAddress, null);
	}

	/**
	 * {@link #init(int, int, String)} with a shared secret.
	 * @param rank this process's rank, in {@code 0..worldSize-1}
	 * @param worldSize number of ranks, at least 1
	 * @param masterAddress {@code host:port} of rank 0; the port may be left out
	 * @param token secret that every rank must know; {@code null} only if the address is
	 * a loopback address
	 * @return MPI, initialized: every rank has joined
	 * @throws IllegalArgumentException if rank 0 would listen beyond this host without a
	 * token
	 */
	public static Mpi init(int rank, int worldSize, String masterAddress, @Nullable String token) {
		if (worldSize < 1) {
			throw new InvalidWorldSizeException(worldSize);
		}
		if (rank < 0 || rank >= worldSize) {
			throw new InvalidRankException("rank", rank, worldSize);
		}
		Endpoint rendezvous = Endpoint.parse(masterAddress, RankAssignment.DEFAULT_MASTER_PORT);
		if (token == null && worldSize > 1 && !Endpoint.resolvesToLoopback(rendezvous.host())) {
			throw new IllegalArgumentException("the rendezvous address " + rendezvous.host()
					+ " is reachable from other hosts and no token is given: pass the same token on every rank");
		}
		return init(assignment(rank, worldSize, rendezvous, token), settings(null).withToken(token));
	}

	/**
	 * At a loopback address and without a token all ranks are on this host. Otherwise
	 * their hosts are not known before the rendezvous, and each rank counts as the only
	 * one of its host.
	 */
	static RankAssignment assignment(int rank, int worldSize, Endpoint rendezvous, @Nullable String token) {
		boolean oneHost = token == null || Endpoint.isLoopback(rendezvous.host());
		return new RankAssignment(rank, worldSize, oneHost ? rank : 0, oneHost ? worldSize : 1, rendezvous.host(),
				rendezvous.port());
	}

	/**
	 * Joins the world that an assignment describes.
	 * @param assignment rank, world size and rendezvous address
	 * @param settings engine settings; {@link #settings} returns the defaults
	 * @return MPI, initialized: every rank has joined
	 * @throws BackendUnavailableException if the MPI library cannot be used
	 * @throws MpiIoException if a rank cannot listen on its address
	 * @throws RendezvousException if the rendezvous fails
	 * @throws UncheckedIOException if the group of all ranks cannot be set up
	 */
	public static Mpi init(RankAssignment assignment, EngineSettings settings) {
		try {
			return new Mpi(Engine.join(assignment, settings.withBackend(Backends.MPI, settings.mpiLibrary()),
					new WarningsOnStderr()));
		}
		catch (RendezvousException ex) {
			throw (ex.reason() == RendezvousException.Reason.ADDRESS)
					? new MpiIoException(assignment, String.valueOf(ex.getMessage()), ex) : ex;
		}
	}

	/**
	 * The default settings, with or without an MPI library.
	 * @param library {@code openmpi}, {@code mpich}, a path, or {@code null} for Tutti's
	 * own engine
	 * @return the default settings with this library
	 */
	public static EngineSettings settings(@Nullable String library) {
		return EngineSettings.DEFAULTS.withBackend(Backends.MPI, library);
	}

	/**
	 * Whether the backend is usable with these settings; starts nothing.
	 * @param settings settings of the engine
	 * @return whether the backend can be used with them
	 */
	public static boolean isAvailable(EngineSettings settings) {
		return availability(settings).available();
	}

	/**
	 * {@link #isAvailable} with the reason.
	 * @param settings settings of the engine
	 * @return whether the backend can be used with them, and why not
	 */
	public static Availability availability(EngineSettings settings) {
		return Backends.availability(Backends.MPI, settings);
	}

	/**
	 * {@code MPI_COMM_WORLD}: every rank.
	 * @return the communicator of all ranks
	 */
	public Communicator world() {
		return this.world;
	}

	/**
	 * {@code MPI_Wtime}: seconds since some point in the past.
	 * @return seconds since an arbitrary time in the past
	 */
	public static double wtime() {
		return System.nanoTime() / NANOS_PER_SECOND;
	}

	/**
	 * {@code MPI_Abort}: ends the job. On an MPI library every process ends with the
	 * code, and this method does not return. On Tutti's own engine the calls of every
	 * rank fail with an error that names this rank and the code, and that has the exit
	 * code.
	 * @param code exit code; its lowest 8 bits count, and {@link ExitCode#ABORTED} takes
	 * the place of 0
	 */
	public void abort(int code) {
		this.engine.abort(exitCode(code), abortReason(code));
	}

	static String abortReason(int code) {
		return "MPI_Abort was called with code " + code;
	}

	/** Exit codes have 8 bits, and an aborted job has not succeeded. */
	static int exitCode(int code) {
		int kept = code & EXIT_CODE_BITS;
		return (kept != 0) ? kept : ExitCode.ABORTED;
	}

	/**
	 * {@code MPI_Finalize}: leaves the world. After a failure on an MPI library, the
	 * process ends here with the exit code of the failure.
	 */
	@Override
	public void close() {
		this.engine.close();
	}

	/** Prints warnings for programs without a logging framework. */
	private static final class WarningsOnStderr implements CollectiveListener {

		@Override
		public void warn(String message) {
			System.err.println("tutti: " + message);
		}

	}

}
