package io.tutti.engine.control;

import java.time.Duration;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.tutti.Failure;
import io.tutti.engine.control.ControlMessage.ProgressReply;
import io.tutti.engine.failure.DepartedRanks;

/**
 * Rank 0's inquiry into a reported timeout: the last call that each rank has entered. The
 * verdict names the ranks that are behind the call or do not answer. A rank inside an
 * earlier call waits there for others, so it is named only if there is no other one that
 * is behind, and if it does not report the earlier call in time. If no rank is behind,
 * the verdict names those for which the reporter waited.
 */
final class TimeoutInquiry implements FailureResolver.Inquiry {

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

	/** Ranks that are still inside the last call that they have entered. */
	private final BitSet inside = new BitSet();

	/** The members of the group as reported by its members; empty at first. */
	private final BitSet members = new BitSet();

	/** Every rank below this one has answered, has left or is lost. */
	private int firstAwaited;

	/**
	 * @param askedNanos when every rank was asked
	 * @param dueNanos when the inquiry ends without the missing answers
	 */
	TimeoutInquiry(long id, int reporter, Failure report, PeerTable peers, long askedNanos, long dueNanos) {
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
	void answer(int rank, ProgressReply answer) {
		answer.members()
			.stream()
			.filter((member) -> member >= 0 && member < this.lastEntered.length)
			.forEach(this.members::set);
		if (this.lastEntered[rank] == NO_ANSWER) {
			this.lastEntered[rank] = Math.max(answer.lastEntered(), NO_ANSWER + 1);
			this.inside.set(rank, answer.inside());
		}
	}

	/**
	 * Whether every rank that is up has answered, and the verdict does not depend on the
	 * report of a rank inside an earlier call.
	 */
	boolean isComplete(DepartureTracker departures) {
		if (!haveAllAnswered()) {
			return false;
		}
		List<Integer> behind = behind(departures);
		return behind.isEmpty() || !outside(behind, departures).isEmpty();
	}

	private boolean haveAllAnswered() {
		while (this.firstAwaited < this.lastEntered.length && !isAwaited(this.firstAwaited)) {
			this.firstAwaited++;
		}
		return this.firstAwaited == this.lastEntered.length;
	}

	private boolean isAwaited(int rank) {
		return this.lastEntered[rank] == NO_ANSWER && this.peers.isUp(rank);
	}

	/**
	 * Whether a failure is the cause of the timeout: that of an earlier call, an abort by
	 * a rank outside of a call, or a mismatch in the call itself. A lost peer, an abort
	 * in the call itself and one that names no rank may be consequences.
	 */
	boolean isExplainedBy(Failure failure) {
		long sequence = failure.sequence();
		return switch (failure.kind()) {
			case TIMEOUT -> sequence >= 0 && sequence < this.report.sequence();
			case ABORTED -> sequence < this.report.sequence() && !failure.ranks().isEmpty();
			case MISMATCH -> sequence <= this.report.sequence();
			case PEER_LOST -> false;
		};
	}

	/**
	 * The verdict that follows from the report and the answers.
	 * @param departures tells which ranks have left the group after the reported call
	 */
	Failure verdict(DepartureTracker departures, long nowNanos) {
		List<Integer> behind = behind(departures);
		List<Integer> outside = outside(behind, departures);
		List<Integer> missing = outside.isEmpty() ? behind : outside;
		List<Integer> awaited = missing.isEmpty() ? present(this.report.ranks().stream(), departures) : missing;
		return new Failure(this.report.kind(), this.report.group(), this.report.sequence(), this.report.collective(),
				awaited, describe(missing.stream().map((rank) -> detail(rank, nowNanos)).toList()),
				this.report.elapsed(), this.report.timeout());
	}

	private List<Integer> behind(DepartureTracker departures) {
		return present(IntStream.range(0, this.lastEntered.length).filter(this::isBehind).boxed(), departures);
	}

	/** Those that have not left after the call. */
	private List<Integer> present(Stream<Integer> ranks, DepartureTracker departures) {
		DepartedRanks left = departures.from(this.report.group());
		return ranks.filter((rank) -> !left.hasCompleted(rank, this.report.sequence())).toList();
	}

	/** Those that are inside no call, or have left the group since. */
	private List<Integer> outside(List<Integer> behind, DepartureTracker departures) {
		DepartedRanks left = departures.from(this.report.group());
		return behind.stream().filter((rank) -> !this.inside.get(rank) || left.contains(rank)).toList();
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
			return "rank " + rank + (this.inside.get(rank) ? " is still in #" : " was last in #") + entered;
		}
		if (entered != NO_ANSWER) {
			return "rank " + rank + " has entered no call";
		}
		return switch (this.peers.state(rank)) {
			case UP, UNKNOWN ->
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
