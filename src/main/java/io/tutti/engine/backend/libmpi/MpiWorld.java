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
import java.util.function.Function;

import io.tutti.engine.BackendUnavailableException;
import io.tutti.engine.DataType;
import io.tutti.engine.Deadline;
import io.tutti.engine.Failure;
import org.jspecify.annotations.Nullable;

/**
 * The launcher's world as the MPI library sees it, from its start to its end, which are
 * once per process. Safe for any number of threads: one thread calls the library for all.
 * <p>
 * A collective that was begun cannot be taken back from a library. So where one fails,
 * the whole job has to end: {@link #doom} and {@link #abort} do that.
 */
public final class MpiWorld {

	/** The library allows one start per process, whatever becomes of it. */
	private static final AtomicBoolean STARTED = new AtomicBoolean();

	/** For the other ranks to say what they saw before the job ends. */
	private static final Duration LAST_WORDS = Duration.ofMillis(500);

	/** After that a library that does not end the process is not waited for. */
	private static final Duration ABORT_LIMIT = Duration.ofSeconds(2);

	/** MPI promises no larger tag; of a group's name any number does. */
	private static final int MAX_GROUP_TAG = 32767;

	private final MpiLibrary library;

	private final MpiThread thread;

	private final MpiOperators operators = new MpiOperators();

	private final AtomicReference<@Nullable Failure> doom = new AtomicReference<>();

	private final AtomicBoolean over = new AtomicBoolean();

	private final Extent extent;

	private MpiWorld(MpiLibrary library, MpiThread thread, Extent extent) {
		this.library = library;
		this.thread = thread;
		this.extent = extent;
	}

	/**
	 * Starts the library, which joins the launcher's world.
	 * @param rank this process's rank, for the thread's name
	 * @throws BackendUnavailableException if the library does not start in time
	 * @throws IllegalStateException if it has been started before
	 */
	public static MpiWorld start(MpiLibrary library, int rank, Deadline deadline) {
		if (!STARTED.compareAndSet(false, true)) {
			throw new IllegalStateException("an MPI library can be started once per process, and has been");
		}
		MpiThread thread = new MpiThread(library, rank);
		thread.start();
		MpiTask<Extent> start = new MpiTask<>((calls) -> {
			calls.init();
			return new Extent(calls.rank(), calls.size(), calls.largestTag());
		});
		thread.submit(start);
		return new MpiWorld(library, thread, await(start.result(), "the start", deadline));
	}

	/** This process's rank by the library. */
	public int rank() {
		return this.extent.rank();
	}

	/** How many ranks there are by the library. */
	public int worldSize() {
		return this.extent.worldSize();
	}

	/** What the library calls itself. */
	public String version() {
		return this.library.version();
	}

	/** The largest tag of a message. */
	int largestTag() {
		return this.extent.largestTag();
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
	 * Gives every rank rank 0's bytes; the same number on every rank.
	 */
	public byte[] broadcast(byte[] bytes, Deadline deadline) {
		MemorySegment buffer = Arena.ofAuto().allocate(bytes.length);
		MemorySegment.copy(bytes, 0, buffer, ValueLayout.JAVA_BYTE, 0, bytes.length);
		exchange((calls, request) -> calls.ibcast(buffer.address(), bytes.length, abi().type(DataType.UINT8), 0,
				abi().commWorld(), request), deadline);
		return buffer.toArray(ValueLayout.JAVA_BYTE);
	}

	/** Gives every rank all ranks' bytes, by rank; the same number on every rank. */
	public byte[] allGather(byte[] bytes, Deadline deadline) {
		MemorySegment send = Arena.ofAuto().allocate(bytes.length);
		MemorySegment.copy(bytes, 0, send, ValueLayout.JAVA_BYTE, 0, bytes.length);
		MemorySegment receive = Arena.ofAuto().allocate((long) bytes.length * worldSize());
		exchange((calls, request) -> calls.iallgather(send.address(), receive.address(), bytes.length,
				abi().type(DataType.UINT8), abi().commWorld(), request), deadline);
		return receive.toArray(ValueLayout.JAVA_BYTE);
	}

	private void exchange(MpiExchange.Begin begin, Deadline deadline) {
		MpiExchange exchange = new MpiExchange(begin);
		this.thread.submit(exchange);
		await(exchange.result(), "the exchange of addresses", deadline);
	}

	/**
	 * A communicator of some ranks, which all make it.
	 * @param members their world ranks, by rank in the group
	 * @param name the group's name
	 */
	public MpiCommunicator communicator(List<Integer> members, String name, Deadline deadline) {
		int tag = Math.floorMod(name.hashCode(), MAX_GROUP_TAG);
		return call((calls) -> {
			try (Arena arena = Arena.ofConfined()) {
				MemorySegment ranks = arena.allocate(ValueLayout.JAVA_INT, members.size());
				for (int i = 0; i < members.size(); i++) {
					ranks.setAtIndex(ValueLayout.JAVA_INT, i, members.get(i));
				}
				return new MpiCommunicator(this, calls.createGroup(ranks.address(), members.size(), tag));
			}
		}, "the making of group " + name, deadline);
	}

	/** Gives a communicator back. */
	void free(MpiCommunicator communicator) {
		this.thread.submit(new MpiTask<>((calls) -> {
			calls.free(communicator.handle());
			return true;
		}));
	}

	private <T> T call(Function<MpiCalls, T> task, String what, Deadline deadline) {
		MpiTask<T> submitted = new MpiTask<>(task);
		this.thread.submit(submitted);
		return await(submitted.result(), what, deadline);
	}

	private static <T> T await(CompletableFuture<T> result, String what, Deadline deadline) {
		try {
			return result.get(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
		}
		catch (ExecutionException ex) {
			throw MpiCalls.rethrown(ex.getCause());
		}
		catch (TimeoutException ex) {
			throw new BackendUnavailableException("mpi",
					what + " of the MPI library was not done after " + deadline.timeout(),
					"Start every rank with the launcher that the library belongs to");
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("interrupted in " + what + " of the MPI library", ex);
		}
	}

	/**
	 * Something failed that the library may still be at: the job ends by itself after a
	 * while, unless the process ends before.
	 * @param patience how long the program has to say what it saw
	 */
	public void doom(Failure failure, Duration patience) {
		if (this.doom.compareAndSet(null, failure)) {
			Thread.ofPlatform().name("tutti-r" + rank() + "-mpi-doom").daemon().start(() -> {
				pause(patience);
				if (!this.over.get()) {
					abort(exitCode(failure));
				}
			});
		}
	}

	/** What failed that the library may still be at, or {@code null}. */
	public @Nullable Failure doom() {
		return this.doom.get();
	}

	/** Ends every process of the job with an exit code; does not return. */
	public void abort(int code) {
		pause(LAST_WORDS);
		this.thread.submit(new MpiTask<>((calls) -> {
			calls.abort(code);
			return true;
		}));
		pause(ABORT_LIMIT);
		Runtime.getRuntime().halt(code);
	}

	/**
	 * Leaves the world; waits for the other ranks, though not beyond the deadline.
	 * @return whether all have left
	 */
	public boolean close(Deadline deadline) {
		if (!this.over.compareAndSet(false, true)) {
			return true;
		}
		try {
			call((calls) -> {
				calls.finish();
				return true;
			}, "the end", deadline);
			return true;
		}
		catch (BackendUnavailableException | MpiLibraryException ex) {
			return false;
		}
		finally {
			this.thread.end();
		}
	}

	/** What every rank's process ends with, as our own commands would. */
	public static int exitCode(Failure failure) {
		return switch (failure.kind()) {
			case TIMEOUT -> 75;
			case PEER_LOST -> 76;
			case MISMATCH -> 78;
			case ABORTED -> 80;
		};
	}

	private static void pause(Duration duration) {
		try {
			Thread.sleep(duration);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	/** Who this process is by the library, and what it takes. */
	private record Extent(int rank, int worldSize, int largestTag) {

	}

}
