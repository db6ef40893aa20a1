package io.tutti.service.rest;

import io.tutti.Collective;
import io.tutti.CollectiveException;
import io.tutti.engine.backend.JoinedGroup;
import io.tutti.engine.control.BarrierOutcome;
import io.tutti.engine.control.RoundWait;
import io.tutti.service.group.BoundedWaits;
import io.tutti.service.group.GroupLifecycle;
import io.tutti.service.group.GroupUnavailableException;
import io.tutti.service.group.PerGeneration;

import org.springframework.context.annotation.Lazy;

/**
 * Labelled barriers over the control plane, where they cannot interleave with the
 * collectives of training.
 */
@Lazy
final class LabelledBarriers {

	/** The timeout is a barrier's only parameter, and a repeated call may change it. */
	private static final byte[] NO_PARAMETERS = {};

	private final GroupLifecycle group;

	private final BoundedWaits waits;

	private final ProblemFactory problems;

	private final PerGeneration<NamedRounds<Passed>> rounds = new PerGeneration<>((_) -> new NamedRounds<>(), (_) -> {
	});

	LabelledBarriers(GroupLifecycle group, BoundedWaits waits, ProblemFactory problems) {
		this.group = group;
		this.waits = waits;
		this.problems = problems;
	}

	/**
	 * Waits for every rank at a label.
	 * @throws RoundFailedException if a deadline broke the barrier
	 * @throws ProblemException if the named round is over, or if the group is not ready,
	 * breaks during the wait, or this rank leaves it
	 * @throws CallWithdrawnException if the client disconnected before every rank had
	 * arrived
	 * @throws GroupUnavailableException if the group has not formed
	 */
	BarrierOutcome pass(RoundWait wait) {
		// A round that has passed may be repeated after its group has broken.
		JoinedGroup joined = this.group.requireJoined();
		RunningCall call = RunningCall.start(Collective.BARRIER.label(), wait, joined);
		try {
			return this.waits
				.await(() -> this.rounds.of(joined)
					.run(wait, () -> NO_PARAMETERS, (each) -> new Passed(carryOut(joined, each))))
				.outcome();
		}
		catch (GroupUnavailableException ex) {
			throw this.problems.unavailable(ex, call);
		}
	}

	private BarrierOutcome carryOut(JoinedGroup joined, RoundWait wait) {
		if (this.group.ready() != joined) {
			throw new GroupUnavailableException(this.group.status(), null);
		}
		BarrierOutcome outcome = await(joined, wait);
		return switch (outcome.result()) {
			case PASSED -> outcome;
			case BROKEN, LATE -> throw RoundFailedException.ofBarrier(outcome, wait.timeout());
			case WITHDRAWN -> throw new CallWithdrawnException(wait.label());
		};
	}

	private BarrierOutcome await(JoinedGroup joined, RoundWait wait) {
		try {
			return joined.control().barrier(wait);
		}
		catch (CollectiveException ex) {
			throw new GroupUnavailableException(this.group.statusOf(joined, ex), ex);
		}
	}

	/** Holds too little memory to need reference counting. */
	private record Passed(BarrierOutcome outcome) implements NamedRounds.Held {

		@Override
		public void hold() {
		}

		@Override
		public void release() {
		}

	}

}
