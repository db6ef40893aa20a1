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
 * One call that waits for the other ranks. The control thread adds events and the calling
 * thread waits for them. Only the calling thread probes the client.
 */
final class PendingWait {

	/**
	 * The interval at which the client is probed. It is also probed when rank 0 asks for
	 * confirmation.
	 */
	private static final Duration PROBE_INTERVAL = Duration.ofMillis(500);

	private sealed interface Event {

	}

	private record Ended(CallMatch match) implements Event {
	}

	/** Every rank has entered, and rank 0 asks whether the client is still connected. */
	private record Asked(int attempt) implements Event {
	}

	private record Cancelled() implements Event {
	}

	private final LinkedBlockingQueue<Event> events = new LinkedBlockingQueue<>();

	private final @Nullable BooleanSupplier client;

	/**
	 * Starts a wait.
	 * @param client whether the client is still connected, {@code null} for no client
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
	 * Waits until rank 0 ends the wait, also after the call is withdrawn.
	 * @param confirm called with the attempt each time rank 0 asks for the client and it
	 * is connected
	 * @param withdraw called once, when the client has disconnected
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

	/** Waits for the end without confirming or withdrawing. */
	CallMatch awaitEnd(Deadline deadline) throws InterruptedException, TimeoutException {
		return await(deadline, (attempt) -> {
		}, () -> {
		});
	}

	/** The next event, {@code null} if it is time to probe the client. */
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
