package io.tutti.engine.backend.mpi;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

import io.tutti.CollectiveException;
import io.tutti.MessageMismatchException;
import io.tutti.ProcessGroup;

/**
 * A non-blocking operation in progress. Its buffers must not be used until it is done.
 * The deadline of collectives applies. Thread-safe.
 */
public final class Request {

	private final ProcessGroup group;

	private final CompletableFuture<Status> future;

	Request(ProcessGroup group, CompletableFuture<Status> future) {
		this.group = group;
		this.future = future;
	}

	/**
	 * Waits until the operation is done. An interrupt aborts the group.
	 * @throws CollectiveException if the group is or becomes broken
	 * @throws MessageMismatchException if a message does not fit the receive
	 */
	public Status waitFor() {
		try {
			return this.future.get();
		}
		catch (ExecutionException ex) {
			throw unwrapped(ex.getCause());
		}
		catch (InterruptedException ex) {
			this.group.abort("the calling thread was interrupted in a wait");
			try {
				return afterInterrupt();
			}
			finally {
				Thread.currentThread().interrupt();
			}
		}
	}

	/** Returns at once, because the group is broken. */
	private Status afterInterrupt() {
		try {
			return this.future.join();
		}
		catch (CompletionException ex) {
			throw unwrapped(ex.getCause());
		}
	}

	/**
	 * Tests without waiting whether the operation is done.
	 * @return the status, or empty if the operation is not done
	 * @throws CollectiveException as {@link #waitFor()}
	 */
	public Optional<Status> test() {
		return this.future.isDone() ? Optional.of(waitFor()) : Optional.empty();
	}

	/** Waits until all are done and returns their statuses in the same order. */
	public static List<Status> waitAll(Request... requests) {
		return waitAll(Arrays.asList(requests));
	}

	/**
	 * Waits until all are done.
	 * @return the statuses, in the same order
	 * @throws CollectiveException as {@link #waitFor()}, for the first failed request
	 */
	public static List<Status> waitAll(List<Request> requests) {
		return requests.stream().map(Request::waitFor).toList();
	}

	private static RuntimeException unwrapped(Throwable cause) {
		Throwable root = (cause instanceof CompletionException && cause.getCause() != null) ? cause.getCause() : cause;
		return (root instanceof RuntimeException unchecked) ? unchecked : new IllegalStateException(root);
	}

}
