package io.tutti.service.rest;

import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;

import io.tutti.engine.control.RoundWait;
import io.tutti.engine.spi.Deadline;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpStatus;

/**
 * Rounds that clients name. A rank runs each round once. A repeated request gets the same
 * answer while the round runs, and afterwards as long as the round is the last of its
 * label and its answer is still held. Any other repetition is a conflict. Thread-safe.
 *
 * @param <R> type of the answer
 */
final class NamedRounds<R extends NamedRounds.Held> {

	/** A reference-counted resource that several requests share. */
	interface Held {

		/** Adds a reference. */
		void hold();

		/** Drops a reference; the creator holds the first one. */
		void release();

	}

	/**
	 * A round as a client names it.
	 *
	 * @param digest digest of the call's parameters and body
	 */
	record Round(String label, long number, byte[] digest) {

		String text() {
			return "round " + this.number + " of label " + this.label;
		}

	}

	/** Beyond this many labels, the least recently used idle one is evicted. */
	static final int MAX_LABELS = 10_000;

	private static final Duration PROBE_INTERVAL = Duration.ofMillis(500);

	/** In access order: the most recently used label is last. */
	private final Map<String, Label<R>> labels = new LinkedHashMap<>(16, 0.75f, true);

	private boolean closed;

	private static final class Label<R> {

		private final Map<Long, Execution<R>> underWay = new HashMap<>();

		private long last = -1;

		private @Nullable Execution<R> lastExecution;

	}

	/** A round that one request runs and whose answer others share. */
	private static final class Execution<R> {

		private final byte[] digest;

		private final CompletableFuture<R> answer = new CompletableFuture<>();

		private int repeats;

		private boolean dropped;

		Execution(byte[] digest) {
			this.digest = digest;
		}

	}

	/**
	 * Runs a call in the rank's next round of its label, or in the round that it names.
	 * @param digest computes the digest of a named round
	 * @param call runs the round; its argument tells whether any client is still
	 * connected
	 * @return the answer, which the caller releases
	 * @throws ProblemException if the round is over, was called with other parameters or
	 * another body, or its answer was evicted, or if another request still runs it at the
	 * deadline of this one
	 */
	R run(RoundWait wait, Supplier<byte[]> digest, Function<RoundWait, R> call) {
		if (wait.round() == RoundWait.NEXT) {
			return call.apply(wait);
		}
		BooleanSupplier client = wait.client();
		return run(new Round(wait.label(), wait.round(), digest.get()), wait.timeout(),
				(client != null) ? client : () -> true, (anyClient) -> call.apply(new RoundWait(wait.label(),
						wait.round(), wait.timeout(), (client != null) ? anyClient : null)));
	}

	/**
	 * Runs a round, or returns its answer if another request runs or has run it.
	 * @param timeout how long a repetition waits for the answer
	 * @param client whether this request's client is still connected
	 */
	R run(Round round, Duration timeout, BooleanSupplier client, Function<BooleanSupplier, R> call) {
		Deadline deadline = Deadline.after(timeout);
		while (true) {
			Execution<R> own = new Execution<>(round.digest());
			Execution<R> execution = join(round, own);
			if (execution == own) {
				return carryOut(round, own, client, call);
			}
			R answer = repeat(round, execution, deadline, client);
			if (answer != null) {
				return answer;
			}
		}
	}

	private synchronized Execution<R> join(Round round, Execution<R> own) {
		Label<R> label = this.labels.computeIfAbsent(round.label(), (name) -> new Label<>());
		Execution<R> running = label.underWay.get(round.number());
		Execution<R> known = (running == null && round.number() == label.last) ? label.lastExecution : running;
		if (known == null) {
			if (round.number() <= label.last) {
				throw ProblemException.roundConflict(round.text() + " is over: round " + label.last + " has run since");
			}
			label.underWay.put(round.number(), own);
			forgetBeyondTheLimit();
			return own;
		}
		if (!Arrays.equals(known.digest, round.digest())) {
			throw ProblemException
				.roundConflict(round.text() + " was called before with other parameters or another body");
		}
		if (known.dropped) {
			throw ProblemException.roundConflict(round.text() + " has run, and its answer was evicted to free memory");
		}
		known.repeats++;
		if (known.answer.isDone()) {
			known.answer.resultNow().hold();
		}
		return known;
	}

	private R carryOut(Round round, Execution<R> own, BooleanSupplier client, Function<BooleanSupplier, R> call) {
		try {
			R answer = call.apply(() -> client.getAsBoolean() || isRepeated(own));
			complete(round, own, answer);
			return answer;
		}
		catch (RuntimeException | Error ex) {
			fail(round, own, ex);
			throw ex;
		}
	}

	private synchronized boolean isRepeated(Execution<R> execution) {
		return execution.repeats > 0;
	}

	private synchronized void complete(Round round, Execution<R> own, R answer) {
		Label<R> label = this.labels.get(round.label());
		label.underWay.remove(round.number());
		for (int repeat = 0; repeat < own.repeats; repeat++) {
			answer.hold();
		}
		if (!this.closed && round.number() > label.last) {
			drop(label);
			label.last = round.number();
			label.lastExecution = own;
			answer.hold();
		}
		own.answer.complete(answer);
	}

	private synchronized void fail(Round round, Execution<R> own, Throwable failure) {
		this.labels.get(round.label()).underWay.remove(round.number());
		own.answer.completeExceptionally(failure);
	}

	/**
	 * Waits for the answer; {@code null} if the round was withdrawn and must run again.
	 */
	private @Nullable R repeat(Round round, Execution<R> execution, Deadline deadline, BooleanSupplier client) {
		try {
			while (true) {
				try {
					long waitNanos = Math.min(PROBE_INTERVAL.toNanos(), deadline.remainingNanos());
					return execution.answer.get(waitNanos, TimeUnit.NANOSECONDS);
				}
				catch (TimeoutException ex) {
					if (deadline.expired() || !client.getAsBoolean()) {
						leave(execution);
						throw deadline.expired() ? timedOut(round, deadline)
								: new CallWithdrawnException(round.label());
					}
				}
			}
		}
		catch (InterruptedException ex) {
			leave(execution);
			Thread.currentThread().interrupt();
			throw new CancellationException("interrupted while waiting for " + round.text());
		}
		catch (ExecutionException ex) {
			return switch (ex.getCause()) {
				case CallWithdrawnException _ -> null;
				case RuntimeException failure -> throw failure;
				case Error failure -> throw failure;
				case null, default -> throw new IllegalStateException(ex);
			};
		}
	}

	private static ProblemException timedOut(Round round, Deadline deadline) {
		return new ProblemException(HttpStatus.GATEWAY_TIMEOUT, ProblemType.COLLECTIVE_TIMEOUT,
				round.text() + " is still under way for an earlier request: the deadline of this one passed")
			.member("label", round.label())
			.member("round", round.number())
			.member("elapsedMs", deadline.elapsed().toMillis())
			.member("timeoutMs", deadline.timeout().toMillis());
	}

	private synchronized void leave(Execution<R> execution) {
		execution.repeats--;
		if (execution.answer.state() == Future.State.SUCCESS) {
			execution.answer.resultNow().release();
		}
	}

	/**
	 * Evicts the least recently used answer; its round can no longer be repeated.
	 * @return whether an answer was evicted
	 */
	synchronized boolean evict() {
		return this.labels.values().stream().anyMatch(this::drop);
	}

	/** Evicts all answers; those of the rounds under way are not kept. */
	synchronized void close() {
		this.closed = true;
		this.labels.values().forEach(this::drop);
	}

	private boolean drop(Label<R> label) {
		Execution<R> last = label.lastExecution;
		if (last == null || last.dropped) {
			return false;
		}
		last.dropped = true;
		last.answer.resultNow().release();
		return true;
	}

	private void forgetBeyondTheLimit() {
		if (this.labels.size() > MAX_LABELS) {
			var oldestFirst = this.labels.values().iterator();
			while (oldestFirst.hasNext()) {
				Label<R> label = oldestFirst.next();
				if (label.underWay.isEmpty()) {
					drop(label);
					oldestFirst.remove();
					return;
				}
			}
		}
	}

}
