package io.tutti.engine.control.labelled;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

import io.tutti.CollectiveException;
import io.tutti.Failure;
import io.tutti.engine.control.BarrierOutcome;
import io.tutti.engine.control.CallMatch;
import io.tutti.engine.control.ControlMessage.Confirm;
import io.tutti.engine.control.ControlMessage.Confirmed;
import io.tutti.engine.control.ControlMessage.EnterRound;
import io.tutti.engine.control.ControlMessage.LabelledNotice;
import io.tutti.engine.control.ControlMessage.RoundEnded;
import io.tutti.engine.control.ControlMessage.Withdraw;
import io.tutti.engine.control.RankControl;
import io.tutti.engine.control.RoundWait;
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
		PendingWait pending = new PendingWait(wait.client());
		this.waits.put(ticket, pending);
		try {
			requireUsable(null);
			this.uplink.send(new EnterRound(ticket, wait.label(), wait.round(), wait.client() != null,
					capped(wait.timeout()).toNanos(), call));
			return await(pending, ticket, wait);
		}
		finally {
			this.waits.remove(ticket);
		}
	}

	private CallMatch await(PendingWait pending, long ticket, RoundWait wait) {
		Deadline deadline = Deadline.after(capped(wait.timeout()).plus(this.answerLimit));
		try {
			return pending.await(deadline, (attempt) -> this.uplink.send(new Confirmed(ticket, attempt)),
					() -> this.uplink.send(new Withdraw(ticket)));
		}
		catch (CancellationException ex) {
			requireUsable(ex);
			throw ex;
		}
		catch (TimeoutException ex) {
			throw CollectiveException.of(this.rank, this.worldSize, Failure.outside(Failure.Kind.PEER_LOST,
					Failure.WORLD, List.of(0), "it did not answer at barrier " + wait.label()), ex);
		}
		catch (InterruptedException ex) {
			return withdraw(pending, ticket, wait.label());
		}
	}

	/**
	 * Rank 0 may have counted this rank already. In that case the other ranks have passed
	 * the barrier, and so does this one.
	 */
	private CallMatch withdraw(PendingWait pending, long ticket, String label) {
		this.uplink.send(new Withdraw(ticket));
		try {
			CallMatch last = pending.awaitEnd(Deadline.after(WITHDRAWING));
			if (last.outcome().result() == BarrierOutcome.Result.PASSED) {
				return last;
			}
		}
		catch (InterruptedException | TimeoutException | CancellationException ex) {
			// Without an answer from rank 0 the interrupt ends the wait.
		}
		Thread.currentThread().interrupt();
		throw new CancellationException("interrupted while waiting at barrier " + label);
	}

	private void requireUsable(@Nullable Throwable cause) {
		Failure ended = this.failure;
		if (ended != null) {
			throw CollectiveException.of(this.rank, this.worldSize, ended, cause);
		}
		if (this.closed) {
			throw new IllegalStateException("rank " + this.rank + " has closed its control plane");
		}
	}

	@Override
	public void receive(LabelledNotice notice) {
		switch (notice) {
			case Confirm(long ticket, int attempt) -> notify(ticket, (wait) -> wait.ask(attempt));
			case RoundEnded(long ticket, CallMatch match) -> notify(ticket, (wait) -> wait.end(match));
		}
	}

	private void notify(long ticket, Consumer<PendingWait> event) {
		PendingWait wait = this.waits.get(ticket);
		if (wait != null) {
			event.accept(wait);
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

	private static Duration capped(Duration timeout) {
		return (timeout.compareTo(LONGEST) > 0) ? LONGEST : timeout;
	}

}
