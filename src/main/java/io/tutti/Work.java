package io.tutti;

import java.time.Duration;
import java.util.Collection;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.jspecify.annotations.Nullable;

/**
 * An asynchronous call that a group runs. Only the group completes it, so that it is
 * never done while the call may still access its buffers; once it is done, the group may
 * be closed. Safe for any number of threads.
 *
 * @param <T> result of the call: {@link Message} for a receive, nothing for other calls
 */
public interface Work<T extends @Nullable Object> {

	/**
	 * Waits until the call is done. The call ends by its own deadline at the latest. An
	 * interrupt of a wait breaks the group, as it does in a synchronous call; if the call
	 * is done, the interrupt status stays set without effect.
	 * @return the result
	 * @throws CollectiveException if the call failed
	 * @throws MessageMismatchException if a message does not fit its receive
	 * @throws java.util.concurrent.CancellationException if the call was withdrawn
	 */
	T await();

	/**
	 * Waits until the call is done, but not longer than a limit. The call continues after
	 * it.
	 * @param limit the longest time to wait
	 * @return whether the call is done
	 * @throws CollectiveException if the call has failed
	 * @throws MessageMismatchException if a message does not fit its receive
	 * @throws java.util.concurrent.CancellationException if the call was withdrawn
	 */
	boolean await(Duration limit);

	/**
	 * Whether the call has ended, by success or failure.
	 * @return whether the call has ended, by success or failure
	 */
	boolean isDone();

	/**
	 * Why the call failed; {@code null} if it has not ended or succeeded.
	 * @return why the call failed; {@code null} if it has not ended or succeeded
	 */
	@Nullable Throwable failure();

	/**
	 * A future that completes as the call does, on a thread of its own. It is a copy:
	 * completing, cancelling or timing it out affects neither the call nor other copies,
	 * so only a future that this class completed shows that the buffers are free.
	 * @return a future that completes as the call does, on a thread of its own
	 */
	CompletableFuture<T> toFuture();

	/**
	 * Withdraws a send or receive that has not been matched with its counterpart. If it
	 * succeeds, no data is transferred, and this work fails with a
	 * {@link java.util.concurrent.CancellationException}. Collectives cannot be
	 * withdrawn, since other ranks take part in them.
	 * @return whether the call was withdrawn
	 */
	boolean cancel();

	/**
	 * Waits until any of the given calls is done.
	 * @param <W> kind of work
	 * @param works at least one
	 * @param limit the longest time to wait
	 * @return the first in iteration order that is done, {@code null} if none is done
	 * within the limit
	 * @throws InterruptedException if the thread is interrupted; the calls continue
	 */
	static <W extends Work<?>> @Nullable W awaitAny(Collection<W> works, Duration limit) throws InterruptedException {
		Objects.requireNonNull(limit, "limit must not be null");
		requireNoNull(works);
		if (works.isEmpty()) {
			throw new IllegalArgumentException("works must be at least one");
		}
		CompletableFuture<?>[] ends = works.stream().map(Work::toFuture).toArray(CompletableFuture<?>[]::new);
		try {
			CompletableFuture.anyOf(ends).get(TimeUnit.NANOSECONDS.convert(limit), TimeUnit.NANOSECONDS);
		}
		catch (ExecutionException | TimeoutException ex) {
			// The caller asks the work itself.
		}
		finally {
			for (CompletableFuture<?> end : ends) {
				end.cancel(false);
			}
		}
		return works.stream().filter(Work::isDone).findFirst().orElse(null);
	}

	/**
	 * Waits until all of the given calls are done.
	 * @param works any number of calls
	 * @throws CollectiveException the failure of the first in iteration order that
	 * failed, after all have ended
	 * @throws MessageMismatchException as {@link #await()}
	 * @throws java.util.concurrent.CancellationException as {@link #await()}
	 */
	static void awaitAll(Collection<? extends Work<?>> works) {
		requireNoNull(works);
		Throwable failure = null;
		for (Work<?> work : works) {
			try {
				work.await();
			}
			catch (RuntimeException | Error ex) {
				failure = (failure != null) ? failure : ex;
			}
		}
		switch (failure) {
			case Error error -> throw error;
			case RuntimeException unchecked -> throw unchecked;
			case null, default -> {
			}
		}
	}

	private static void requireNoNull(Collection<? extends Work<?>> works) {
		Objects.requireNonNull(works, "works must not be null");
		works.forEach((work) -> Objects.requireNonNull(work, "a work must not be null"));
	}

}
