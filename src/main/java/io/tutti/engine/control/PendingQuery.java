package io.tutti.engine.control;

import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.IntPredicate;

/**
 * Collects the answers to one query. The control thread adds them, and the querying
 * thread waits for them.
 */
final class PendingQuery {

	/** How soon the wait for a rank ends that has left or is lost. */
	private static final long CHECK_INTERVAL_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

	/**
	 * A rank's answer.
	 *
	 * @param after time from the query to the answer
	 */
	record Answer(byte[] trace, Duration after) {
	}

	private final Set<Integer> awaited;

	private final Map<Integer, Answer> answers = new TreeMap<>();

	private final long askedNanos = System.nanoTime();

	PendingQuery(Collection<Integer> ranks) {
		this.awaited = new HashSet<>(ranks);
	}

	/** Adds a rank's answer. Ignores a second one and a rank that was not asked. */
	synchronized void add(int rank, byte[] trace) {
		if (this.awaited.remove(rank)) {
			this.answers.put(rank, new Answer(trace, Duration.ofNanos(System.nanoTime() - this.askedNanos)));
			notifyAll();
		}
	}

	/** Ends the query without further answers. */
	synchronized void end() {
		this.awaited.clear();
		notifyAll();
	}

	/**
	 * Waits until every rank that is up has answered. An interrupt ends the wait and
	 * stays set.
	 * @return the answers until then, by rank
	 */
	synchronized Map<Integer, Answer> await(Duration timeout, IntPredicate isUp) {
		long leftNanos = TimeUnit.NANOSECONDS.convert(timeout);
		long endNanos = System.nanoTime() + leftNanos;
		try {
			while (leftNanos > 0 && this.awaited.stream().anyMatch(isUp::test)) {
				TimeUnit.NANOSECONDS.timedWait(this, Math.min(leftNanos, CHECK_INTERVAL_NANOS));
				leftNanos = endNanos - System.nanoTime();
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		return Map.copyOf(this.answers);
	}

}
