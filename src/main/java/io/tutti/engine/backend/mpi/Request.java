package io.tutti.engine.backend.mpi;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

import io.tutti.CollectiveException;
import io.tutti.Message;
import io.tutti.MessageMismatchException;
import io.tutti.Work;
import org.jspecify.annotations.Nullable;

/**
 * A non-blocking operation in progress. Its buffers must not be used until it is done.
 * The deadline of collectives applies. Thread-safe.
 */
public final class Request {

	/** {@code null} for an operation with {@link Mpi#PROC_NULL}. */
	private final @Nullable Work<?> work;

	Request(@Nullable Work<?> work) {
		this.work = work;
	}

	/**
	 * {@code MPI_Wait}. An interrupt aborts the group.
	 * @return source, tag and number of elements of a receive; empty for other calls
	 * @throws CollectiveException if the group is or becomes broken
	 * @throws MessageMismatchException if a message does not fit the receive
	 */
	public Status waitFor() {
		return (this.work != null && this.work.await() instanceof Message message) ? Status.of(message) : Status.EMPTY;
	}

	/**
	 * {@code MPI_Test}.
	 * @return the status, or empty if the operation is not done
	 * @throws CollectiveException as {@link #waitFor()}
	 */
	public Optional<Status> test() {
		return (this.work == null || this.work.isDone()) ? Optional.of(waitFor()) : Optional.empty();
	}

	/**
	 * {@code MPI_Cancel}.
	 * @return whether the operation was withdrawn; {@link #waitFor()} then throws a
	 * {@link java.util.concurrent.CancellationException}
	 */
	public boolean cancel() {
		return this.work != null && this.work.cancel();
	}

	/**
	 * Waits until all are done and returns their statuses in the same order.
	 * @param requests the calls to wait for
	 * @return their statuses, in order
	 */
	public static List<Status> waitAll(Request... requests) {
		return waitAll(Arrays.asList(requests));
	}

	/**
	 * {@code MPI_Waitall}.
	 * @param requests the calls to wait for
	 * @return the statuses, in the same order
	 * @throws CollectiveException as {@link #waitFor()}, for the first failed request,
	 * after all have ended
	 * @throws MessageMismatchException as {@link #waitFor()}
	 */
	public static List<Status> waitAll(List<Request> requests) {
		Work.awaitAll(requests.stream().map((request) -> request.work).filter(Objects::nonNull).toList());
		return requests.stream().map(Request::waitFor).toList();
	}

}
