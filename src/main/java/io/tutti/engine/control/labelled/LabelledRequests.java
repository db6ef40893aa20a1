package io.tutti.engine.control.labelled;

import java.util.function.LongSupplier;

import io.tutti.engine.control.BarrierOutcome;
import io.tutti.engine.control.CallMatch;
import io.tutti.engine.control.ControlMessage.Announce;
import io.tutti.engine.control.ControlMessage.BarrierEnded;
import io.tutti.engine.control.ControlMessage.Confirm;
import io.tutti.engine.control.ControlMessage.Confirmed;
import io.tutti.engine.control.ControlMessage.EnterBarrier;
import io.tutti.engine.control.ControlMessage.LabelledRequest;
import io.tutti.engine.control.ControlMessage.Matched;
import io.tutti.engine.control.ControlMessage.Withdraw;
import io.tutti.engine.control.Coordinator;
import io.tutti.engine.control.RequestHandler;
import io.tutti.engine.control.RoundEntry;
import io.tutti.engine.spi.CallSignature;

/**
 * Rank 0's side of labelled barriers and call matching.
 */
public final class LabelledRequests implements RequestHandler, BarrierService.Listener, CallMatcher.Listener {

	private final Coordinator.Downlink downlink;

	private final BarrierService barriers;

	private final CallMatcher matcher;

	public LabelledRequests(int worldSize, LongSupplier nanoClock, Coordinator.Downlink downlink) {
		this.downlink = downlink;
		this.barriers = new BarrierService(worldSize, nanoClock, this);
		this.matcher = new CallMatcher(worldSize, nanoClock, this);
	}

	@Override
	public void receive(int rank, LabelledRequest request) {
		switch (request) {
			case EnterBarrier(RoundEntry entry) -> this.barriers.enter(rank, entry);
			case Announce(RoundEntry entry, CallSignature call) -> this.matcher.announce(rank, entry, call);
			case Confirmed(long ticket, int attempt) -> {
				this.barriers.confirmed(rank, ticket, attempt);
				this.matcher.confirmed(rank, ticket, attempt);
			}
			case Withdraw(long ticket) -> {
				this.barriers.withdraw(rank, ticket);
				this.matcher.withdraw(rank, ticket);
			}
		}
	}

	@Override
	public void forget(int rank) {
		this.barriers.forget(rank);
		this.matcher.forget(rank);
	}

	@Override
	public void tick() {
		this.barriers.tick();
		this.matcher.tick();
	}

	@Override
	public long nanosUntilDue() {
		return Math.min(this.barriers.nanosUntilDue(), this.matcher.nanosUntilDue());
	}

	@Override
	public void confirm(int rank, long ticket, int attempt) {
		this.downlink.send(rank, new Confirm(ticket, attempt));
	}

	@Override
	public void ended(int rank, long ticket, BarrierOutcome outcome) {
		this.downlink.send(rank, new BarrierEnded(ticket, outcome));
	}

	@Override
	public void matched(int rank, long ticket, CallMatch match) {
		this.downlink.send(rank, new Matched(ticket, match));
	}

}
