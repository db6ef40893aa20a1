package io.tutti.engine.backend.libmpi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;

import io.tutti.BackendUnavailableException;
import io.tutti.Failure;
import io.tutti.engine.spi.CleanUp;
import io.tutti.engine.spi.Deadline;
import org.jspecify.annotations.Nullable;

/**
 * The launcher's world as the MPI library sees it, from {@code MPI_Init} to
 * {@code MPI_Finalize}, each once per process. Thread-safe: a single thread calls the
 * library.
 * <p>
 * MPI cannot cancel a collective that has started. If one fails, the whole job must end,
 * by {@link #abortAfter} or {@link #abort}.
 */
public final class MpiWorld {

	/** MPI allows one initialization per process, even if it fails. */
	private static final AtomicBoolean STARTED = new AtomicBoolean();

	/** Time for other ranks to report failures before the job ends. */
	private static final Duration ABORT_DELAY = Duration.ofMillis(500);

	/** Limit for {@code MPI_Abort} to end the process before this class halts it. */
	private static final Duration ABORT_LIMIT = Duration.ofSeconds(2);

	private final MpiLibrary library;

	private final MpiThread thread;

	private final MpiOperators operators = new MpiOperators();

	private final AtomicReference<@Nullable Failure> fatal = new AtomicReference<>();

	private final AtomicBoolean closed = new AtomicBoolean();

	private final WorldView view;

	MpiWorld(MpiLibrary library, MpiThread thread, WorldView view) {
		this.library = library;
		this.thread = thread;
		this.view = view;
	}

	/**
	 * Initializes the library, which joins the launcher's world.
	 * @param rank this process's rank by the launcher's variables
	 * @param worldSize number of ranks by the launcher's variables
	 * @throws BackendUnavailableException if initialization misses the deadline
	 * @throws IllegalStateException if the library was started before
	 */
	public static MpiWorld start(MpiLibrary library, int rank, int worldSize, Deadline deadline) {
		if (!STARTED.compareAndSet(false, true)) {
			throw new IllegalStateException(
					"an MPI library can be started only once per process, and it has already been started");
		}
		MpiThread thread = new MpiThread(new MpiCalls(library, rank, worldSize), rank);
		thread.start();
		WorldView view = await(thread, (calls) -> {
			calls.init();
			return new WorldView(calls.rank(), calls.size(), calls.largestTag());
		}, "start", deadline);
		return new MpiWorld(library, thread, view);
	}

	/** This process's rank according to the library. */
	public int rank() {
		return this.view.rank();
	}

	/** Number of ranks according to the library. */
	public int worldSize() {
		return this.view.worldSize();
	}

	/** The library's version text. */
	public String version() {
		return this.library.version();
	}

	/** The largest allowed message tag. */
	int largestTag() {
		return this.view.largestTag();
	}

	MpiAbi abi() {
		return this.library.abi();
	}

	MpiOperators operators() {
		return this.operators;
	}

	void submit(MpiOperation operation) {
		this.thread.submit(operation);
	}

	/**
	 * Runs a call of the library without waiting for it.
	 * @return completed with {@code true} after the call
	 */
	CompletableFuture<Boolean> submit(Consumer<MpiCalls> call) {
		MpiTask<Boolean> task = new MpiTask<>((calls) -> {
			call.accept(calls);
			return true;
		});
		submit(task);
		return task.result();
	}

	/**
	 * Gathers all ranks' bytes on every rank, in rank order; every rank passes an array
	 * of the same length.
	 */
	public byte[] allGather(byte[] bytes, Deadline deadline) {
		return await(this.thread, (calls) -> {
			try (Arena arena = Arena.ofConfined()) {
				MemorySegment send = arena.allocateFrom(ValueLayout.JAVA_BYTE, bytes);
				MemorySegment receive = arena.allocate((long) bytes.length * worldSize());
				calls.allGather(send.address(), bytes.length, receive.address());
				return receive.toArray(ValueLayout.JAVA_BYTE);
			}
		}, "exchange of addresses", deadline);
	}

	/**
	 * Creates a communicator; collective over its members.
	 * @param members world ranks, in order of group rank
	 * @param name the group's name
	 */
	public MpiCommunicator communicator(List<Integer> members, String name, Deadline deadline) {
		int tag = groupTag(name, this.view.largestTag());
		return await(this.thread, (calls) -> {
			try (Arena arena = Arena.ofConfined()) {
				MemorySegment ranks = arena.allocateFrom(ValueLayout.JAVA_INT,
						members.stream().mapToInt(Integer::intValue).toArray());
				return new MpiCommunicator(this, calls.createGroup(ranks.address(), members.size(), tag));
			}
		}, "creation of group " + name, deadline);
	}

	/**
	 * Tag of a group's creation. Groups that are created at the same time must differ in
	 * it, so it uses all tags that the library has.
	 */
	static int groupTag(String name, int largestTag) {
		return (int) Math.floorMod((long) name.hashCode(), largestTag + 1L);
	}

	/** Frees a communicator. */
	void free(MpiCommunicator communicator) {
		submit((calls) -> calls.free(communicator.handle()));
	}

	private static <T> T await(MpiThread thread, Function<MpiCalls, T> task, String what, Deadline deadline) {
		MpiTask<T> submitted = new MpiTask<>(task);
		thread.submit(submitted);
		try {
			return submitted.result().get(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
		}
		catch (ExecutionException ex) {
			throw CleanUp.unchecked(ex.getCause());
		}
		catch (TimeoutException ex) {
			submitted.result().cancel(false);
			throw new BackendUnavailableException("mpi",
					what + " by the MPI library did not complete within " + deadline.timeout(),
					"Start every rank with the launcher that the library belongs to");
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			submitted.result().cancel(false);
			throw new BackendUnavailableException("mpi", what + " by the MPI library was interrupted",
					"Start every rank again", ex);
		}
	}

	/**
	 * Schedules an abort of the job after a failure in an operation that the library may
	 * still be running. Closing this world first cancels the abort.
	 * @param gracePeriod time for the program to report the failure
	 */
	public void abortAfter(Failure failure, Duration gracePeriod) {
		if (this.fatal.compareAndSet(null, failure)) {
			Thread.ofPlatform().name("tutti-r" + rank() + "-mpi-abort").daemon().start(() -> {
				pause(gracePeriod);
				if (!this.closed.get()) {
					abort(failure.exitCode());
				}
			});
		}
	}

	/** The failure for which the job will be aborted, or {@code null}. */
	public @Nullable Failure fatalFailure() {
		return this.fatal.get();
	}

	/**
	 * Ends every process of the job by {@code MPI_Abort} with an exit code; does not
	 * return.
	 */
	public void abort(int code) {
		pause(ABORT_DELAY);
		submit((calls) -> calls.abort(code));
		pause(ABORT_LIMIT);
		Runtime.getRuntime().halt(code);
	}

	/**
	 * Leaves the world by {@code MPI_Finalize}; waits for other ranks until the deadline,
	 * also on an interrupted thread, whose flag stays set.
	 * @return {@code false} if that failed or missed the deadline
	 */
	public boolean close(Deadline deadline) {
		if (!this.closed.compareAndSet(false, true)) {
			return true;
		}
		try {
			return submit((calls) -> calls.finish())
				.completeOnTimeout(false, deadline.remainingNanos(), TimeUnit.NANOSECONDS)
				.exceptionally((_) -> false)
				.join();
		}
		finally {
			this.thread.end();
		}
	}

	/** Not shortened by an interrupt, whose flag stays set. */
	private static void pause(Duration duration) {
		new CompletableFuture<Boolean>()
			.completeOnTimeout(true, TimeUnit.NANOSECONDS.convert(duration), TimeUnit.NANOSECONDS)
			.join();
	}

	/** Rank, world size and largest tag according to the library. */
	record WorldView(int rank, int worldSize, int largestTag) {

	}

}
