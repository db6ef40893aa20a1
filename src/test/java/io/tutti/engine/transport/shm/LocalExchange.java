package io.tutti.engine.transport.shm;

import java.io.IOException;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.MetadataExchange;

/**
 * An exchange between threads of one JVM.
 */
public final class LocalExchange {

	private final byte[][] given;

	private final CyclicBarrier barrier;

	public LocalExchange(int worldSize) {
		this.given = new byte[worldSize][];
		this.barrier = new CyclicBarrier(worldSize);
	}

	/** A rank's exchange. */
	public MetadataExchange rank(int rank) {
		return (mine, deadline) -> {
			this.given[rank] = mine.clone();
			meet(deadline);
			byte[][] all = this.given.clone();
			meet(deadline);
			return all;
		};
	}

	/** Whether a rank waits for the other ranks. */
	public boolean waiting() {
		return this.barrier.getNumberWaiting() > 0;
	}

	/** Fails every waiting rank, as a lost connection does. */
	public void cut() {
		this.barrier.reset();
	}

	private void meet(Deadline deadline) throws IOException {
		try {
			this.barrier.await(deadline.remainingNanos(), TimeUnit.NANOSECONDS);
		}
		catch (InterruptedException | BrokenBarrierException | TimeoutException ex) {
			throw new IOException("the ranks did not meet", ex);
		}
	}

}
