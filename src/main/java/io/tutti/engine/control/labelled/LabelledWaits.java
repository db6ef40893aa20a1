package io.tutti.engine.control.labelled;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;

import io.tutti.CollectiveException;
import io.tutti.Failure;
import io.tutti.engine.control.BarrierOutcome;
import io.tutti.engine.control.CallMatch;
import io.tutti.engine.control.ControlMessage.EnterRound;
import io.tutti.engine.control.ControlMessage.LabelledNotice;
import io.tutti.engine.control.RankControl;
import io.tutti.engine.control.RoundWait;
import io.tutti.engine.failure.DepartedRanks;
import io.tutti.engine.spi.CallSignature;
import io.tutti.engine.spi.Deadline;
import org.jspecify.annotations.Nullable;

/**
 * The waits of one rank at labelled barriers and for matching calls.
 */
public final class LabelledWaits implements RankControl.LabelledCalls {

	/** Limit for rank 0's answer to a rank whose waiting thread was interrupted. */
	private static final Duration WITHDRAWING = Duration.ofSeconds(1);

	private static final Duration LONGEST = Duration.ofDays(365);

	private final int rank;

	private final int worldSize;

	private final RankControl.Uplink uplink;

	/** How long after the timeout of a wait rank 0 may still answer. */
	private final Duration answerLimit;

	private final Map<Long, PendingWait> waits = new ConcurrentHashMap<>();

	private final AtomicLong tickets = new AtomicLong();

	private volatile boolean closed;

	private volatile @Nullable Failure failure;

	public LabelledWaits(int rank, int worldSize, RankControl.Uplink uplink, Duration answerLimit) {
		this.rank = rank;
		this.worldSize = worldSize;
		this.uplink = uplink;
		this.answerLimit = answerLimit;
	}

	@Override
	public CallMatch enter(RoundWait wait, @Nullable CallSignature call) {
		long ticket = this.tickets.incrementAndGet();
		Duration timeout = Deadline.shorter(wait.timeout(), LONGEST);
		PendingWait pending = new PendingWait(ticket, wait.client(), this.uplink);
		this.waits.put(ticket, pending);
		try {
			requireUsable(null);
			this.uplink.send(
					new EnterRound(ticket, wait.label(), wait.round(), wait.client() != null, timeout.toNanos(), call));
			return pending.await(Deadline.after(timeout.plus(this.answerLimit)));
		}
		catch (CancellationException ex) {
			requireUsable(ex);
			throw ex;
		}
		catch (TimeoutException ex) {
			throw CollectiveException.of(this.rank, this.worldSize, unanswered(wait.label()), ex);
		}
		catch (InterruptedException ex) {
			return withdraw(pending, wait.label());
		}
		finally {
			this.waits.remove(ticket);
		}
	}

	/** Rank 0 is not lost to itself. */
	private Failure unanswered(String label) {
		String where = " did not answer at barrier " + label;
		return (this.rank == 0)
				? Failure.outside(Failure.Kind.ABORTED, Failure.WORLD, List.of(0), "its control thread" + where)
				: Failure.outside(Failure.Kind.PEER_LOST, Failure.WORLD, List.of(0), "it" + where);
	}

	/**
	 * Rank 0 may have counted this rank already. In that case the other ranks have passed
	 * the barrier, and so does this one.
	 */
	private static CallMatch withdraw(PendingWait pending, String label) {
		pending.withdraw();
		try {
			CallMatch last = pending.await(Deadline.after(WITHDRAWING));
			if (last.outcome().result() == BarrierOutcome.Result.PASSED) {
				return last;
			}
		}
		catch (InterruptedException | TimeoutException | CancellationException ex) {
			// Without an answer from rank 0 the interrupt ends the wait.
		}
		finally {
			Thread.currentThread().interrupt();
		}
		throw new CancellationException("interrupted while waiting at barrier " + label);
	}

	private void requireUsable(@Nullable Throwable cause) {
		Failure ended = this.failure;
		if (ended != null) {
			throw CollectiveException.of(this.rank, this.worldSize, ended, cause);
		}
		if (this.closed) {
			throw CollectiveException.of(this.rank, this.worldSize, DepartedRanks.peerLost(List.of(this.rank)), cause);
		}
	}

	@Override
	public void receive(LabelledNotice notice) {
		PendingWait wait = this.waits.get(notice.ticket());
		if (wait != null) {
			wait.add(notice);
		}
	}

	@Override
	public synchronized void fail(Failure cause) {
		if (this.failure == null) {
			this.failure = cause;
		}
		this.waits.values().forEach(PendingWait::cancel);
	}

	@Override
	public void close() {
		this.closed = true;
		this.waits.values().forEach(PendingWait::cancel);
	}

}
