package io.tutti.engine.control;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

import io.tutti.Failure;
import io.tutti.engine.failure.DepartedRanks;

/**
 * The answers of all ranks to a roll call, which rank 0 makes after a reported timeout.
 * The verdict names the ranks that are behind the call or do not answer. If there are no
 * such ranks, it names the ranks for which the reporter waited.
 */
final class RollCallState implements FailureResolver.Inquiry {

	/** Maximum number of ranks described in an error message. */
	private static final int DETAILED = 16;

	private static final long NO_ANSWER = Long.MIN_VALUE;

	private final long id;

	private final int reporter;

	private final Failure report;

	private final PeerTable peers;

	private final long askedNanos;

	private final long dueNanos;

	private final long[] lastEntered;

	/** The members of the group as reported by its members; empty at first. */
	private final BitSet members = new BitSet();

	/** Every rank below this one has answered, has left or is lost. */
	private int firstAwaited;

	/**
	 * @param askedNanos when every rank was asked
	 * @param dueNanos when the roll call ends without the missing answers
	 */
	RollCallState(long id, int reporter, Failure report, PeerTable peers, long askedNanos, long dueNanos) {
		this.id = id;
		this.reporter = reporter;
		this.report = report;
		this.peers = peers;
		this.askedNanos = askedNanos;
		this.dueNanos = dueNanos;
		this.lastEntered = new long[peers.worldSize()];
		Arrays.fill(this.lastEntered, NO_ANSWER);
	}

	long id() {
		return this.id;
	}

	@Override
	public long dueNanos() {
		return this.dueNanos;
	}

	/** Records an answer. Only a rank's first answer counts. */
	void answer(int rank, long entered, List<Integer> ofGroup) {
		ofGroup.stream().filter((member) -> member >= 0 && member < this.lastEntered.length).forEach(this.members::set);
		if (this.lastEntered[rank] == NO_ANSWER) {
			this.lastEntered[rank] = Math.max(entered, NO_ANSWER + 1);
		}
	}

	/** Whether every rank that is up has answered. */
	boolean isComplete() {
		while (this.firstAwaited < this.lastEntered.length && !isAwaited(this.firstAwaited)) {
			this.firstAwaited++;
		}
		return this.firstAwaited == this.lastEntered.length;
	}

	private boolean isAwaited(int rank) {
		return this.lastEntered[rank] == NO_ANSWER && this.peers.isUp(rank);
	}

	/**
	 * The verdict that follows from the report and the answers.
	 * @param departures tells which ranks have left the group after the reported call
	 */
	Failure verdict(DepartureTracker departures, long nowNanos) {
		DepartedRanks left = departures.from(this.report.group());
		List<Integer> missing = new ArrayList<>();
		List<String> details = new ArrayList<>();
		for (int rank = 0; rank < this.lastEntered.length; rank++) {
			if (!left.hasCompleted(rank, this.report.sequence()) && isBehind(rank)) {
				missing.add(rank);
				details.add(detail(rank, nowNanos));
			}
		}
		List<Integer> awaited = missing.isEmpty() ? this.report.ranks()
			.stream()
			.filter((rank) -> !left.hasCompleted(rank, this.report.sequence()))
			.toList() : missing;
		return new Failure(this.report.kind(), this.report.group(), this.report.sequence(), this.report.collective(),
				awaited, describe(details), this.report.elapsed(), this.report.timeout());
	}

	/**
	 * Whether a rank is behind the reported call. A rank that does not know the group is
	 * not a member, unless the reporter waits for it: then it has not formed the group
	 * yet. A silent rank counts as a member unless the reported members exclude it.
	 */
	private boolean isBehind(int rank) {
		long entered = this.lastEntered[rank];
		if (entered == NO_ANSWER && !this.members.isEmpty() && !this.members.get(rank)) {
			return false;
		}
		return (entered == ControlListener.NOT_A_MEMBER) ? this.report.ranks().contains(rank)
				: entered < this.report.sequence();
	}

	private String detail(int rank, long nowNanos) {
		long entered = this.lastEntered[rank];
		if (entered == ControlListener.NOT_A_MEMBER) {
			return "rank " + rank + " has not formed the group";
		}
		if (entered >= 0) {
			return "rank " + rank + " was last in #" + entered;
		}
		if (entered != NO_ANSWER) {
			return "rank " + rank + " has entered no call";
		}
		return switch (this.peers.state(rank)) {
			case UP ->
				"rank " + rank + " has not answered for " + Duration.ofNanos(nowNanos - this.askedNanos).toMillis()
						+ " ms since it was asked; " + this.peers.lastProgress(rank, this.report.group());
			case LEFT -> "rank " + rank + " has left";
			case LOST -> "rank " + rank + " is lost";
		};
	}

	private String describe(List<String> details) {
		if (details.isEmpty()) {
			return "every rank has entered the call; rank " + this.reporter + " reported: " + this.report.detail();
		}
		String named = String.join(", ", details.subList(0, Math.min(DETAILED, details.size())));
		return (details.size() > DETAILED) ? named + " and " + (details.size() - DETAILED) + " more" : named;
	}

}
