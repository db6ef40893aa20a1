package io.tutti.service.rest;

import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;

/**
 * Memory budget of all collectives over HTTP on this rank. Calls reserve memory in order
 * of arrival, before their bodies are read.
 */
final class TransferBudget {

	/** How long a call may wait for memory, unless its own timeout is shorter. */
	static final Duration WAIT_LIMIT = Duration.ofSeconds(10);

	private static final int UNIT_BYTES = 1 << 10;

	private final Semaphore units;

	private final long bytes;

	private final BooleanSupplier evict;

	/** Units that the waiting calls need. */
	private final AtomicLong awaited = new AtomicLong();

	/**
	 * Creates a budget with nothing reserved.
	 * @param bytes limit for all calls together
	 * @param evict frees one reservation that no call needs; returns whether there was
	 * one
	 */
	TransferBudget(long bytes, BooleanSupplier evict) {
		this.units = new Semaphore(units(bytes), true);
		this.bytes = bytes;
		this.evict = evict;
	}

	/**
	 * Reserves memory for a call, after all earlier requests.
	 * @throws ProblemException if not enough memory becomes free in time
	 * @throws CancellationException if the thread was interrupted
	 */
	Reservation reserve(long wanted, Duration timeout) {
		Duration limit = (timeout.compareTo(WAIT_LIMIT) < 0) ? timeout : WAIT_LIMIT;
		try {
			boolean reserved = this.units.tryAcquire(units(wanted), 0, TimeUnit.NANOSECONDS);
			while (!reserved && this.evict.getAsBoolean()) {
				reserved = this.units.tryAcquire(units(wanted), 0, TimeUnit.NANOSECONDS);
			}
			if (!reserved && !await(units(wanted), limit)) {
				throw ProblemException.overloaded("the call needs " + wanted + " bytes and waited " + limit.toMillis()
						+ " ms for memory: collectives over HTTP hold "
						+ (this.bytes - (long) this.units.availablePermits() * UNIT_BYTES) + " of " + this.bytes
						+ " bytes (tutti.http-collectives.memory)");
			}
			return new Reservation(units(wanted));
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new CancellationException("interrupted while waiting for memory");
		}
	}

	private boolean await(int wanted, Duration limit) throws InterruptedException {
		this.awaited.addAndGet(wanted);
		try {
			return this.units.tryAcquire(wanted, limit.toNanos(), TimeUnit.NANOSECONDS);
		}
		finally {
			this.awaited.addAndGet(-wanted);
		}
	}

	/** Evicts reservations until the waiting calls have enough memory. */
	void relieve() {
		while (this.units.availablePermits() < this.awaited.get() && this.evict.getAsBoolean()) {
			// One reservation after the other.
		}
	}

	private static int units(long bytes) {
		return Math.toIntExact(Math.ceilDiv(bytes, UNIT_BYTES));
	}

	/** Memory that a call may use until it is closed. */
	final class Reservation implements AutoCloseable {

		private int held;

		private Reservation(int units) {
			this.held = units;
		}

		/** Splits off part of this reservation as a new one. */
		synchronized Reservation split(long part) {
			int units = Math.min(units(part), this.held);
			this.held -= units;
			return new Reservation(units);
		}

		/** Releases what exceeds a length. */
		synchronized void shrink(long bytes) {
			int excess = Math.max(0, this.held - units(bytes));
			this.held -= excess;
			TransferBudget.this.units.release(excess);
		}

		@Override
		public synchronized void close() {
			TransferBudget.this.units.release(this.held);
			this.held = 0;
		}

	}

}
