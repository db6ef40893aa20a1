package io.tutti.engine.transport.shm;

import java.util.concurrent.locks.LockSupport;

import io.tutti.engine.transport.shm.HostLayout.Line;
import org.jspecify.annotations.Nullable;

/**
 * Puts a rank that has waited long to sleep until a peer wakes it. A publisher reads the
 * peer's sleep flag and rings only if it is set. That read is not ordered with the
 * published data, so a wake-up may be missed; each sleep is therefore limited to
 * {@value #MAX_SLEEP_NANOS} ns. A virtual thread sleeps in the JVM instead: in the kernel
 * it would keep its carrier thread, which other ranks' or groups' threads may need.
 */
final class Doorbell {

	private static final long MAX_SLEEP_NANOS = 2_000_000;

	/** Sleep time without a futex, and of a virtual thread. */
	private static final long NAP_NANOS = 100_000;

	private final HostMemory memory;

	private final Line bell;

	private final long ownBell;

	private final long ownSleeping;

	/** Addresses of the ranks' sleep flags. */
	private final long[] sleeping;

	private final @Nullable Futex futex;

	private boolean armed;

	private int rungBefore;

	Doorbell(HostMemory memory, @Nullable Futex futex) {
		this(memory, Line.SLEEPING, Line.BELL, futex);
	}

	private Doorbell(HostMemory memory, Line asleep, Line bell, @Nullable Futex futex) {
		this.memory = memory;
		this.bell = bell;
		this.futex = futex;
		this.ownBell = bell(memory.self());
		this.ownSleeping = memory.layout().line(memory.self(), asleep);
		this.sleeping = new long[memory.ranks()];
		for (int rank = 0; rank < this.sleeping.length; rank++) {
			this.sleeping[rank] = memory.layout().line(rank, asleep);
		}
	}

	/**
	 * A doorbell for messages, whose threads sleep independently of those of collectives.
	 */
	static Doorbell forMessages(HostMemory memory, @Nullable Futex futex) {
		return new Doorbell(memory, Line.MESSAGE_SLEEPING, Line.MESSAGE_BELL, futex);
	}

	/**
	 * Sleeps for at most that long. The first call only sets the sleep flag and returns:
	 * the caller must check once more for data that was published before the flag was
	 * visible.
	 */
	void sleep(long maxNanos) {
		Futex kernel = this.futex;
		if (kernel == null || Thread.currentThread().isVirtual()) {
			LockSupport.parkNanos(Math.min(maxNanos, NAP_NANOS));
			return;
		}
		if (!this.armed) {
			this.armed = true;
			this.rungBefore = SharedWords.read(this.ownBell);
			SharedWords.write(this.ownSleeping, 1);
			return;
		}
		kernel.await(this.ownBell, this.rungBefore, Math.min(maxNanos, MAX_SLEEP_NANOS));
		this.rungBefore = SharedWords.read(this.ownBell);
	}

	/** Clears this rank's sleep flag. */
	void awake() {
		if (this.armed) {
			this.armed = false;
			SharedWords.write(this.ownSleeping, 0);
		}
	}

	/** Wakes a rank if it sleeps, so that it sees the published data. */
	void ring(int rank) {
		if (SharedWords.readOpaque(this.sleeping[rank]) != 0) {
			wake(rank);
		}
	}

	/** Wakes every other rank that sleeps. */
	void ringAll() {
		for (int rank = 0; rank < this.sleeping.length; rank++) {
			ring(rank);
		}
	}

	/** Wakes this rank, from another of its threads. */
	void wakeSelf() {
		wake(this.memory.self());
	}

	private void wake(int rank) {
		Futex kernel = this.futex;
		if (kernel != null) {
			SharedWords.increment(bell(rank));
			kernel.wake(bell(rank));
		}
	}

	private long bell(int rank) {
		return this.memory.layout().line(rank, this.bell);
	}

}
