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

	/** Beyond this many labels, the least recently used idle one is evicted. */
	static final int MAX_LABELS = 10_000;

	private static final Duration PROBE_INTERVAL = Duration.ofMillis(500);

	/** In access order: the most recently used label is last. */
	private final Map<String, Label<R>> labels = new LinkedHashMap<>(16, 0.75f, true);

	/** The requests of each round, from their arrival on. */
	private final Map<Name, Integer> requests = new HashMap<>();

	private boolean closed;

	private record Name(String label, long round) {
	}

	private static final class Label<R> {

		private final Map<Long, Execution<R>> underWay = new HashMap<>();

		private long last = -1;

		private @Nullable Execution<R> lastExecution;

	}

	/**
	 * A round that one request runs and whose answer others share. The digest is that of
	 * the call's parameters and body.
	 */
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
	 * The answer of a round that has run, held for a request that repeats the round.
	 *
	 * @param answer released by the request
	 */
	record Stored<R extends Held>(RoundWait round, byte[] digest, R answer) {

		/**
		 * Checks that a request repeats the round.
		 * @throws ProblemException if it has other parameters or another body
		 */
		void require(byte[] repeated) {
			requireEqual(this.round, this.digest, repeated);
		}

	}

	/** Begins a request: the answer of its round is not evicted until it ends. */
	synchronized void begin(RoundWait wait) {
		this.requests.merge(new Name(wait.label(), wait.round()), 1, Integer::sum);
	}

	/** Ends a request that has begun. */
	synchronized void end(RoundWait wait) {
		this.requests.computeIfPresent(new Name(wait.label(), wait.round()),
				(name, count) -> (count > 1) ? count - 1 : null);
	}

	/**
	 * Finds the answer of the last round of a label.
	 * @return {@code null} if the wait is not for that round or its answer was evicted
	 */
	synchronized @Nullable Stored<R> stored(RoundWait wait) {
		Label<R> label = this.labels.get(wait.label());
		Execution<R> last = (label != null && wait.round() == label.last) ? label.lastExecution : null;
		if (last == null || last.dropped) {
			return null;
		}
		R answer = last.answer.resultNow();
		answer.hold();
		return new Stored<>(wait, last.digest, answer);
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
		byte[] parameters = digest.get();
		Deadline deadline = Deadline.after(wait.timeout());
		RoundWait left = wait;
		while (true) {
			Execution<R> own = new Execution<>(parameters);
			Execution<R> execution = join(wait, own);
			if (execution == own) {
				return carryOut(left, own, call);
			}
			R answer = repeat(wait, execution, deadline);
			if (answer != null) {
				return answer;
			}
			left = remaining(wait, deadline);
		}
	}

	/** What remains of a wait after an earlier request has withdrawn the round. */
	private static RoundWait remaining(RoundWait wait, Deadline deadline) {
		if (deadline.expired()) {
			throw timedOut(wait, deadline);
		}
		return new RoundWait(wait.label(), wait.round(), deadline.remaining(), wait.client());
	}

	private synchronized Execution<R> join(RoundWait wait, Execution<R> own) {
		Label<R> label = this.labels.computeIfAbsent(wait.label(), (name) -> new Label<>());
		Execution<R> running = label.underWay.get(wait.round());
		Execution<R> known = (running == null && wait.round() == label.last) ? label.lastExecution : running;
		if (known == null) {
			if (wait.round() <= label.last) {
				throw ProblemException.roundConflict(text(wait) + " is over: round " + label.last + " has run since");
			}
			label.underWay.put(wait.round(), own);
			forgetBeyondTheLimit();
			return own;
		}
		requireEqual(wait, known.digest, own.digest);
		if (known.dropped) {
			throw ProblemException.roundConflict(text(wait) + " has run, and its answer was evicted to free memory");
		}
		known.repeats++;
		if (known.answer.isDone()) {
			known.answer.resultNow().hold();
		}
		return known;
	}

	private static void requireEqual(RoundWait wait, byte[] first, byte[] repeated) {
		if (!Arrays.equals(first, repeated)) {
			throw ProblemException
				.roundConflict(text(wait) + " was called before with other parameters or another body");
		}
	}

	private R carryOut(RoundWait wait, Execution<R> own, Function<RoundWait, R> call) {
		try {
			R answer = call.apply(shared(wait, own));
			complete(wait, own, answer);
			return answer;
		}
		catch (RuntimeException | Error ex) {
			fail(wait, own, ex);
			throw ex;
		}
	}

	/** The same wait, on behalf of the clients of all requests of the round. */
	private RoundWait shared(RoundWait wait, Execution<R> own) {
		BooleanSupplier client = wait.client();
		return (client == null) ? wait : new RoundWait(wait.label(), wait.round(), wait.timeout(),
				() -> client.getAsBoolean() || isRepeated(own));
	}

	private synchronized boolean isRepeated(Execution<R> execution) {
		return execution.repeats > 0;
	}

	private synchronized void complete(RoundWait wait, Execution<R> own, R answer) {
		Label<R> label = this.labels.get(wait.label());
		label.underWay.remove(wait.round());
		for (int repeat = 0; repeat < own.repeats; repeat++) {
			answer.hold();
		}
		if (!this.closed && wait.round() > label.last) {
			drop(label);
			label.last = wait.round();
			label.lastExecution = own;
			answer.hold();
		}
		own.answer.complete(answer);
	}

	private synchronized void fail(RoundWait wait, Execution<R> own, Throwable failure) {
		this.labels.get(wait.label()).underWay.remove(wait.round());
		own.answer.completeExceptionally(failure);
	}

	/**
	 * Waits for the answer; {@code null} if the round was withdrawn and must run again.
	 */
	private @Nullable R repeat(RoundWait wait, Execution<R> execution, Deadline deadline) {
		BooleanSupplier client = wait.client();
		try {
			while (true) {
				try {
					long waitNanos = Math.min(PROBE_INTERVAL.toNanos(), deadline.remainingNanos());
					return execution.answer.get(waitNanos, TimeUnit.NANOSECONDS);
				}
				catch (TimeoutException ex) {
					if (deadline.expired() || (client != null && !client.getAsBoolean())) {
						leave(execution);
						throw deadline.expired() ? timedOut(wait, deadline) : new CallWithdrawnException(wait.label());
					}
				}
			}
		}
		catch (InterruptedException ex) {
			leave(execution);
			Thread.currentThread().interrupt();
			throw new CancellationException("interrupted while waiting for " + text(wait));
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

	private static ProblemException timedOut(RoundWait wait, Deadline deadline) {
		return new ProblemException(HttpStatus.GATEWAY_TIMEOUT, ProblemType.COLLECTIVE_TIMEOUT,
				text(wait) + " was under way for an earlier request until the deadline of this one")
			.member("label", wait.label())
			.member("round", wait.round())
			.member("elapsedMs", deadline.elapsed().toMillis())
			.member("timeoutMs", deadline.timeout().toMillis());
	}

	private static String text(RoundWait wait) {
		return "round " + wait.round() + " of label " + wait.label();
	}

	private synchronized void leave(Execution<R> execution) {
		execution.repeats--;
		if (execution.answer.state() == Future.State.SUCCESS) {
			execution.answer.resultNow().release();
		}
	}

	/**
	 * Evicts the least recently used answer that no request waits for; its round can no
	 * longer be repeated.
	 * @return whether an answer was evicted
	 */
	synchronized boolean evict() {
		return this.labels.entrySet()
			.stream()
			.filter((each) -> !this.requests.containsKey(new Name(each.getKey(), each.getValue().last)))
			.anyMatch((each) -> drop(each.getValue()));
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
