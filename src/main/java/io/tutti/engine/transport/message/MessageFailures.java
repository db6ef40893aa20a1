package io.tutti.engine.transport.message;

import java.time.Duration;
import java.util.List;

import io.tutti.engine.CollectiveException;
import io.tutti.engine.Failure;
import io.tutti.engine.FailureLatch;
import io.tutti.engine.GroupIdentity;

/**
 * Finds out that a message will not get through any more, and says why.
 */
final class MessageFailures {

	private final GroupIdentity identity;

	private final FailureLatch latch;

	private final Office office;

	MessageFailures(GroupIdentity identity, FailureLatch latch, Office office) {
		this.identity = identity;
		this.latch = latch;
		this.office = office;
	}

	/**
	 * Checks that the group can carry messages at all.
	 * @throws CollectiveException if the group is broken
	 */
	void requireWhole() {
		Failure earlier = this.latch.failure();
		if (earlier != null) {
			throw CollectiveException.of(this.identity.worldRank(), earlier, null);
		}
	}

	/**
	 * Checks that an operation may yet end well.
	 * @throws CollectiveException if the group is broken, the peer lost or the deadline
	 * passed
	 */
	void requireAlive(Operation operation, long now) {
		Failure earlier = this.latch.failure();
		if (earlier != null) {
			throw during(operation, CollectiveException.of(this.identity.worldRank(), earlier, null), now);
		}
		this.office.enter();
		try {
			if (operation.done) {
				return;
			}
			String lost = this.office.postroom().lost(operation);
			if (lost != null) {
				throw failure(Failure.Kind.PEER_LOST, operation, peersOf(operation), own(operation) + ": " + lost, now);
			}
			if (operation.stopwatch.remainingNanos(now) <= 0) {
				throw failure(Failure.Kind.TIMEOUT, operation, peersOf(operation),
						own(operation) + " was not done" + this.office.postroom().hindrance(operation), now);
			}
		}
		finally {
			this.office.leave();
		}
	}

	/**
	 * Checks that nobody wants the calling thread back.
	 * @throws CollectiveException if it was interrupted
	 */
	void requireNotInterrupted(Operation operation, long now) {
		if (Thread.currentThread().isInterrupted()) {
			throw failure(Failure.Kind.ABORTED, operation, List.of(this.identity.rank()),
					"the calling thread was interrupted in a " + operation, now);
		}
	}

	/**
	 * A failure that was not found out in an operation, told with it: a rank may be lost
	 * while each of the others is somewhere else.
	 */
	static CollectiveException during(Operation operation, CollectiveException failure, long now) {
		return failure.during(operation.toString(), Duration.ofNanos(operation.stopwatch.elapsedNanos(now)));
	}

	/** This rank has closed the group during an operation. */
	void abandon() {
		this.latch.trip(Failure.outside(Failure.Kind.ABORTED, this.identity.name(), List.of(this.identity.worldRank()),
				"this rank closed the group during a send or receive"));
	}

	/** Why nothing goes through a closed group. */
	CollectiveException closed() {
		Failure failure = this.latch.failure();
		return CollectiveException.of(this.identity.worldRank(),
				(failure != null) ? failure : Failure.outside(Failure.Kind.ABORTED, this.identity.name(),
						List.of(this.identity.worldRank()), "this rank closed the group"),
				null);
	}

	/** Every rank is told of it. */
	private String own(Operation operation) {
		return "rank " + this.identity.worldRank() + "'s " + operation;
	}

	private static List<Integer> peersOf(Operation operation) {
		return (operation.peer >= 0) ? List.of(operation.peer) : List.of();
	}

	private CollectiveException failure(Failure.Kind kind, Operation operation, List<Integer> groupRanks, String detail,
			long now) {
		List<Integer> worldRanks = groupRanks.stream().map(this.identity.members()::get).toList();
		return CollectiveException.of(this.identity.worldRank(),
				new Failure(kind, this.identity.name(), -1, null, worldRanks, detail,
						Duration.ofNanos(operation.stopwatch.elapsedNanos(now)),
						Duration.ofNanos(operation.stopwatch.timeoutNanos())),
				null);
	}

}
