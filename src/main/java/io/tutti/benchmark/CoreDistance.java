package io.tutti.benchmark;

import java.util.OptionalDouble;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Measures the time that a cache line takes from one core to another. A hypervisor can
 * move virtual processors to cores that share no cache. That multiplies this time and can
 * double the time of a collective, so that results with different times are no
 * comparison.
 */
public final class CoreDistance {

	/** The index of the used word; the others keep its cache line free of other data. */
	private static final int WORD = 16;

	private static final int WORDS = 2 * WORD;

	/**
	 * A sample is short, so that the fastest one is without an interruption of a thread.
	 */
	private static final int ROUND_TRIPS = 50;

	/** The JIT compiler needs a part of this in the first measurement of a JVM. */
	private static final long DURATION_NANOS = 300_000_000;

	private final CoreBinding here = CoreBinding.of(0, 2);

	private final CoreBinding there = CoreBinding.of(1, 2);

	private final AtomicLongArray words = new AtomicLongArray(WORDS);

	/** Set when one of the threads ends, after which the other one does. */
	private volatile boolean ended;

	private OptionalDouble nanos = OptionalDouble.empty();

	private CoreDistance() {
	}

	/**
	 * Measures for 300 ms on two threads, the calling one and another, each bound to a
	 * core of its own.
	 * @return the shortest time of a transfer in one direction, a mean over 100
	 * transfers, in nanoseconds; empty if this thread may use only one core, if the cores
	 * are not known, or if the other thread fails
	 */
	public static OptionalDouble measure() {
		CoreDistance distance = new CoreDistance();
		if (distance.there == CoreBinding.NONE) {
			return OptionalDouble.empty();
		}
		distance.here.during(distance::bounce);
		return distance.nanos;
	}

	private void bounce() {
		Thread.ofPlatform().daemon().name("core-distance").start(this::answer);
		long start = System.nanoTime();
		long before = start;
		double shortest = Double.POSITIVE_INFINITY;
		for (long value = 0; before - start < DURATION_NANOS && roundTrips(value); value += 2 * ROUND_TRIPS) {
			long after = System.nanoTime();
			shortest = Math.min(shortest, (after - before) / (2.0 * ROUND_TRIPS));
			before = after;
		}
		this.ended = true;
		this.nanos = Double.isFinite(shortest) ? OptionalDouble.of(shortest) : OptionalDouble.empty();
	}

	/**
	 * Writes odd values and waits for the even ones that follow them. Returns whether all
	 * have come.
	 */
	private boolean roundTrips(long from) {
		boolean answered = true;
		for (long value = from; answered && value < from + 2 * ROUND_TRIPS; value += 2) {
			this.words.setRelease(WORD, value + 1);
			answered = await(value + 2);
		}
		return answered;
	}

	private void answer() {
		try {
			this.there.during(this::echo);
		}
		finally {
			this.ended = true;
		}
	}

	private void echo() {
		for (long value = 1; await(value); value += 2) {
			this.words.setRelease(WORD, value + 1);
		}
	}

	/** Returns whether the value has come before the other thread has ended. */
	private boolean await(long value) {
		while (this.words.getAcquire(WORD) != value) {
			if (this.ended) {
				return false;
			}
		}
		return true;
	}

}
