package io.tutti.engine.backend.nccl;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Checks a communicator periodically for asynchronous errors, such as a lost peer, also
 * between calls. Reports the first error and ends. It does not report an abort, since the
 * code that aborted reports the cause, which must come first.
 */
final class Watchdog implements AutoCloseable {

	/** Short enough for every rank to learn of a failure within a second. */
	static final Duration INTERVAL = Duration.ofMillis(100);

	private final RankCommunicator communicator;

	private final Consumer<NcclException> listener;

	private final CountDownLatch closed = new CountDownLatch(1);

	private Watchdog(RankCommunicator communicator, Consumer<NcclException> listener) {
		this.communicator = communicator;
		this.listener = listener;
	}

	/**
	 * Starts the checks on a dedicated thread.
	 * @param worldRank rank of this process in the job
	 * @param listener receives at most one error
	 */
	static Watchdog start(RankCommunicator communicator, int worldRank, Duration interval,
			Consumer<NcclException> listener) {
		Watchdog watchdog = new Watchdog(communicator, listener);
		Thread.ofPlatform().name("tutti-r" + worldRank + "-nccl-watchdog").daemon().start(() -> watchdog.run(interval));
		return watchdog;
	}

	private void run(Duration interval) {
		try {
			while (!this.closed.await(interval.toNanos(), TimeUnit.NANOSECONDS)) {
				this.communicator.check();
			}
		}
		catch (NcclException ex) {
			if (ex.reason() != NcclException.Reason.ABORTED) {
				this.listener.accept(ex);
			}
		}
		catch (InterruptedException | IllegalStateException ex) {
			// The communicator is closed.
			return;
		}
	}

	@Override
	public void close() {
		this.closed.countDown();
	}

}
