package io.tutti.engine.backend.nccl;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * Looks for errors of a communicator that come up by themselves, such as a lost peer,
 * while nobody is in a call. Tells of the first one and ends. Of an abort it does not
 * tell: whoever aborted knows why, and would be taken for second if this came first.
 */
final class Watchdog implements AutoCloseable {

	/** Soon enough for a failure to be known everywhere within a second. */
	static final Duration INTERVAL = Duration.ofMillis(100);

	private final RankCommunicator communicator;

	private final Consumer<NcclException> listener;

	private final CountDownLatch closed = new CountDownLatch(1);

	private Watchdog(RankCommunicator communicator, Consumer<NcclException> listener) {
		this.communicator = communicator;
		this.listener = listener;
	}

	/**
	 * Begins to look, on a thread of its own.
	 * @param listener hears of an error, once
	 */
	static Watchdog start(RankCommunicator communicator, Duration interval, Consumer<NcclException> listener) {
		Watchdog watchdog = new Watchdog(communicator, listener);
		Thread.ofPlatform()
			.name("tutti-r" + communicator.rank() + "-nccl-watchdog")
			.daemon()
			.start(() -> watchdog.run(interval));
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
			// Closed meanwhile: there is nothing to look after.
			return;
		}
	}

	@Override
	public void close() {
		this.closed.countDown();
	}

}
