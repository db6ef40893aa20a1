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
 * The accounts that one question brings in, as they come. Added to by the control thread,
 * waited for by whoever asked.
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

	/** A rank that was asked has answered; one that was not is not listened to. */
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

	/** Nothing more will come. */
	void end() {
		this.done.countDown();
	}

	/** Waits until all have answered; an interrupt ends the wait early and stays set. */
	void await(Duration timeout) {
		try {
			this.done.await(timeout.toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	/** What has come, by rank; a copy. */
	Map<Integer, byte[]> accounts() {
		return new TreeMap<>(this.accounts);
	}

	/** How long each answer took that has come, by rank; a copy. */
	Map<Integer, Duration> waits() {
		return new TreeMap<>(this.waits);
	}

}
