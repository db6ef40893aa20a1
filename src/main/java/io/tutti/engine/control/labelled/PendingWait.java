package io.tutti.engine.control.labelled;

import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.IntConsumer;

import io.tutti.engine.control.CallMatch;
import io.tutti.engine.spi.Deadline;
import org.jspecify.annotations.Nullable;

/**
 * One call that waits for the other ranks: told by the control thread, waited for by the
 * calling thread, which alone looks at the client.
 */
final class PendingWait {

	/**
	 * A client that disconnects is seen within this time, and at the latest at the end.
	 */
	private static final Duration PROBE_INTERVAL = Duration.ofMillis(500);

	private sealed interface Event {

	}

	private record Ended(CallMatch match) implements Event {
	}

	/** All have come: is the client still there? */
	private record Asked(int attempt) implements Event {
	}

	private record Cancelled() implements Event {
	}

	private final LinkedBlockingQueue<Event> events = new LinkedBlockingQueue<>();

	private final @Nullable BooleanSupplier client;

	/**
	 * A wait that has just begun.
	 * @param client whether the client is still there, {@code null} if there is none
	 */
	PendingWait(@Nullable BooleanSupplier client) {
		this.client = client;
	}

	void end(CallMatch match) {
		this.events.add(new Ended(match));
	}

	void ask(int attempt) {
		this.events.add(new Asked(attempt));
	}

	void cancel() {
		this.events.add(new Cancelled());
	}

	/**
	 * Waits for the end; only rank 0 knows it, even once the call is withdrawn.
	 * @param confirm called with the attempt, each time the client was asked for and is
	 * there
	 * @param withdraw called once, when the client has gone
	 * @throws CancellationException if the wait was cancelled
	 * @throws TimeoutException if the deadline passed
	 */
	CallMatch await(Deadline deadline, IntConsumer confirm, Runnable withdraw)
			throws InterruptedException, TimeoutException {
		boolean withdrawn = false;
		while (true) {
			Event event = next(deadline, !withdrawn);
			if (event instanceof Ended(CallMatch match)) {
				return match;
			}
			if (event instanceof Cancelled) {
				throw new CancellationException();
			}
			if (!withdrawn && !isClientThere()) {
				withdrawn = true;
				withdraw.run();
			}
			if (!withdrawn && event instanceof Asked(int attempt)) {
				confirm.accept(attempt);
			}
		}
	}

	/** Waits for the end alone. */
	CallMatch awaitEnd(Deadline deadline) throws InterruptedException, TimeoutException {
		return await(deadline, (attempt) -> {
		}, () -> {
		});
	}

	/** What happens next, {@code null} if it is time to look at the client. */
	private @Nullable Event next(Deadline deadline, boolean probing) throws InterruptedException, TimeoutException {
		long leftNanos = deadline.remainingNanos();
		long waitNanos = (probing && this.client != null) ? Math.min(leftNanos, PROBE_INTERVAL.toNanos()) : leftNanos;
		Event event = this.events.poll(waitNanos, TimeUnit.NANOSECONDS);
		if (event == null && deadline.expired()) {
			throw new TimeoutException("no answer after " + deadline.timeout());
		}
		return event;
	}

	private boolean isClientThere() {
		return this.client == null || this.client.getAsBoolean();
	}

}
