package io.tutti.engine.control;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

import io.tutti.Failure;

/**
 * Rank 0 asks every rank how far it has come, because a deadline passed somewhere: who is
 * behind, or does not answer, is who was waited for. If none is, the ranks are those that
 * the reporter waited for.
 */
final class RollCallState {

	/** More details than this help nobody. */
	private static final int DETAILED = 16;

	private static final long NO_ANSWER = Long.MIN_VALUE;

	private final long id;

	private final int reporter;

	private final Failure report;

	private final long askedNanos;

	private final long[] lastEntered;

	/** Who is in the group, as those who are say; nobody yet. */
	private final BitSet members = new BitSet();

	private int answers;

	/**
	 * @param askedNanos when every rank was asked
	 */
	RollCallState(long id, int reporter, Failure report, int worldSize, long askedNanos) {
		this.id = id;
		this.reporter = reporter;
		this.report = report;
		this.askedNanos = askedNanos;
		this.lastEntered = new long[worldSize];
		Arrays.fill(this.lastEntered, NO_ANSWER);
	}

	long id() {
		return this.id;
	}

	/** Takes an answer; only a rank's first one counts. */
	void answer(int rank, long entered, List<Integer> ofGroup) {
		ofGroup.stream().filter((member) -> member >= 0 && member < this.lastEntered.length).forEach(this.members::set);
		if (this.lastEntered[rank] == NO_ANSWER) {
			this.lastEntered[rank] = Math.max(entered, NO_ANSWER + 1);
			this.answers++;
		}
	}

	int answers() {
		return this.answers;
	}

	boolean answered(int rank) {
		return this.lastEntered[rank] != NO_ANSWER;
	}

	/** What the report turns into, given the answers. */
	Failure verdict(RankLiveness liveness, long nowNanos) {
		List<Integer> missing = new ArrayList<>();
		List<String> details = new ArrayList<>();
		for (int rank = 0; rank < this.lastEntered.length; rank++) {
			if (isBehind(rank)) {
				missing.add(rank);
				details.add(detail(rank, liveness, nowNanos));
			}
		}
		List<Integer> awaited = missing.isEmpty() ? this.report.ranks() : missing;
		return new Failure(this.report.kind(), this.report.group(), this.report.sequence(), this.report.collective(),
				awaited, describe(details), this.report.elapsed(), this.report.timeout());
	}

	/**
	 * A rank that knows nothing of the group is not in it, unless the reporter waits for
	 * it: then it has not come as far as forming it. One that is silent may be of any
	 * group, unless those who answer know better.
	 */
	private boolean isBehind(int rank) {
		long entered = this.lastEntered[rank];
		if (entered == NO_ANSWER && !this.members.isEmpty() && !this.members.get(rank)) {
			return false;
		}
		return (entered == ControlListener.NOT_A_MEMBER) ? this.report.ranks().contains(rank)
				: entered < this.report.sequence();
	}

	private String detail(int rank, RankLiveness liveness, long nowNanos) {
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
		return switch (liveness.of(rank)) {
			case UP ->
				"rank " + rank + " has not answered for " + Duration.ofNanos(nowNanos - this.askedNanos).toMillis()
						+ " ms since it was asked; " + liveness.lastSeen(rank, this.report.group(), nowNanos);
			case LEFT -> "rank " + rank + " has left";
			case LOST -> "rank " + rank + " is lost";
		};
	}

	private String describe(List<String> details) {
		if (details.isEmpty()) {
			return "every rank has entered the call; rank " + this.reporter + " saw: " + this.report.detail();
		}
		String named = String.join(", ", details.subList(0, Math.min(DETAILED, details.size())));
		return (details.size() > DETAILED) ? named + " and " + (details.size() - DETAILED) + " more" : named;
	}

}
