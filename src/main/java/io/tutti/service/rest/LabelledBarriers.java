package io.tutti.service.rest;

import java.time.Duration;

import io.tutti.engine.CollectiveException;
import io.tutti.engine.rendezvous.BarrierOutcome;
import io.tutti.service.group.BoundedWaits;
import io.tutti.service.group.GroupLifecycle;
import io.tutti.service.group.GroupUnavailableException;
import io.tutti.service.group.JoinedGroup;

import org.springframework.stereotype.Component;

/**
 * Labelled barriers over the control plane, where they cannot cross with training.
 */
@Component
final class LabelledBarriers {

	private final GroupLifecycle group;

	private final BoundedWaits waits;

	LabelledBarriers(GroupLifecycle group, BoundedWaits waits) {
		this.group = group;
		this.waits = waits;
	}

	/**
	 * Waits for every rank at a label.
	 * @throws BarrierFailedException if a deadline broke the barrier
	 * @throws GroupUnavailableException if the group is not ready, breaks meanwhile, or
	 * this rank leaves it
	 */
	BarrierOutcome pass(String label, Duration timeout) {
		JoinedGroup joined = this.group.ready();
		BarrierOutcome outcome = this.waits.await(() -> await(joined, label, timeout));
		return switch (outcome.result()) {
			case PASSED -> outcome;
			case BROKEN, LATE -> throw new BarrierFailedException(outcome, timeout);
		};
	}

	private BarrierOutcome await(JoinedGroup joined, String label, Duration timeout) {
		try {
			return joined.control().barrier(label, timeout);
		}
		catch (CollectiveException ex) {
			throw new GroupUnavailableException(this.group.statusOf(ex), ex);
		}
	}

}
