package io.tutti.engine.control.labelled;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;

import io.tutti.engine.control.CallMatch;
import io.tutti.engine.control.ControlMessage.Confirm;
import io.tutti.engine.control.ControlMessage.LabelledNotice;
import io.tutti.engine.control.ControlMessage.RoundEnded;
import io.tutti.engine.control.ControlMessage.Withdraw;
import io.tutti.engine.control.RankControl;
import io.tutti.engine.spi.Deadline;
import org.jspecify.annotations.Nullable;

/**
 * One call that waits for the other ranks. The control thread adds rank 0's notices and
 * the calling thread waits for them. Only the calling thread probes the client.
 */
final class PendingWait {

	/**
	 * The interval at which the client is probed. It is also probed when rank 0 asks for
	 * confirmation.
	 */
	private static final Duration PROBE_INTERVAL = Duration.ofMillis(500);

	private final long ticket;

	/** Whether the client is still connected, {@code null} for no client. */
	private final @Nullable BooleanSupplier client;

	private final RankControl.Uplink uplink;

	/** Rank 0's notices; an empty one cancels the wait. */
	private final BlockingQueue<Optional<LabelledNotice>> notices = new LinkedBlockingQueue<>();

	private boolean withdrawn;

	PendingWait(long ticket, @Nullable BooleanSupplier client, RankControl.Uplink uplink) {
		this.ticket = ticket;
		this.client = client;
		this.uplink = uplink;
	}

	void add(LabelledNotice notice) {
		this.notices.add(Optional.of(notice));
	}

	void cancel() {
		this.notices.add(Optional.empty());
	}

	/** Asks rank 0 to end the wait. Called by the waiting thread. */
	void withdraw() {
		this.withdrawn = true;
		this.uplink.send(new Withdraw(this.ticket));
	}

	/**
	 * Waits until rank 0 ends the wait, also after it is withdrawn. Withdraws it when the
	 * client has disconnected.
	 * @throws CancellationException if the wait was cancelled
	 * @throws TimeoutException if the deadline passed
	 */
	CallMatch await(Deadline deadline) throws InterruptedException, TimeoutException {
		while (true) {
			LabelledNotice notice = next(deadline);
			if (notice instanceof RoundEnded ended) {
				return ended.match();
			}
			if (!this.withdrawn && this.client != null && !this.client.getAsBoolean()) {
				withdraw();
			}
			if (!this.withdrawn && notice instanceof Confirm asked) {
				this.uplink.send(asked);
			}
		}
	}

	/** The next notice, {@code null} if it is time to probe the client. */
	private @Nullable LabelledNotice next(Deadline deadline) throws InterruptedException, TimeoutException {
		boolean probing = this.client != null && !this.withdrawn;
		long leftNanos = deadline.remainingNanos();
		Optional<LabelledNotice> notice = this.notices
			.poll(probing ? Math.min(leftNanos, PROBE_INTERVAL.toNanos()) : leftNanos, TimeUnit.NANOSECONDS);
		if (notice == null && deadline.expired()) {
			throw new TimeoutException("no answer after " + deadline.timeout());
		}
		return (notice != null) ? notice.orElseThrow(CancellationException::new) : null;
	}

}
