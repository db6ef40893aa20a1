package io.tutti.engine.control;

import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Collects the answers to one query. The control thread adds them, and the querying
 * thread waits for them.
 */
final class PendingQuery {

	private final Set<Integer> awaited = ConcurrentHashMap.newKeySet();

	private final Map<Integer, byte[]> accounts = new ConcurrentHashMap<>();

	private final Map<Integer, Duration> waits = new ConcurrentHashMap<>();

	private final long askedNanos = System.nanoTime();

	private final CountDownLatch done = new CountDownLatch(1);

	PendingQuery(Collection<Integer> ranks) {
		this.awaited.addAll(ranks);
		if (this.awaited.isEmpty()) {
			end();
		}
	}

	/** Adds a rank's answer. Ignores a rank that was not asked. */
	void add(int rank, byte[] account) {
		if (this.awaited.contains(rank)) {
			this.accounts.putIfAbsent(rank, account);
			this.waits.putIfAbsent(rank, Duration.ofNanos(System.nanoTime() - this.askedNanos));
			this.awaited.remove(rank);
			if (this.awaited.isEmpty()) {
				end();
			}
		}
	}

	/** Ends the query without further answers. */
	void end() {
		this.done.countDown();
	}

	/** Waits until all ranks have answered. An interrupt ends the wait and stays set. */
	void await(Duration timeout) {
		try {
			this.done.await(timeout.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	/** A copy of the answers so far, by rank. */
	Map<Integer, byte[]> accounts() {
		return new TreeMap<>(this.accounts);
	}

	/** A copy of the time that each answer so far took, by rank. */
	Map<Integer, Duration> waits() {
		return new TreeMap<>(this.waits);
	}

}
