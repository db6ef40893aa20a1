package io.tutti;

import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * What went wrong in a group, as data that can travel between ranks: first what one rank
 * saw, then rank 0's verdict, which is the cause on every rank.
 *
 * @param kind what happened
 * @param group name of the group it happened in; a lost peer concerns every group that
 * holds it
 * @param sequence number of the collective in the group, -1 outside of a collective
 * @param collective what was being called, {@code null} outside of a collective
 * @param ranks the world ranks at fault: lost, missing, in disagreement or aborting; may
 * be empty
 * @param detail what was seen, in words
 * @param elapsed time from the start of the call until the failure was seen
 * @param timeout time that the call was given, zero where none applied
 */
public record Failure(Kind kind, String group, long sequence, @Nullable Collective collective, List<Integer> ranks,
		String detail, Duration elapsed, Duration timeout) {

	/** The kinds of failure a formed group can meet. */
	public enum Kind {

		/** The deadline of a collective passed. */
		TIMEOUT,
		/** Ranks called different collectives at the same place in the order. */
		MISMATCH,
		/** A rank's process ended, fell silent or was cut off. */
		PEER_LOST,
		/** Somebody asked for the end of the group. */
		ABORTED

	}

	/** The name of the group that holds every rank. */
	public static final String WORLD = "world";

	public Failure {
		ranks = List.copyOf(ranks);
	}

	/**
	 * What it is when calls of a group need a rank that has left it: who leaves the group
	 * of all ranks is lost to all others, who leaves another one only to that.
	 */
	public static Kind departure(String group) {
		return group.equals(WORLD) ? Kind.PEER_LOST : Kind.ABORTED;
	}

	/** A failure seen outside of any collective call. */
	public static Failure outside(Kind kind, String group, List<Integer> ranks, String detail) {
		return new Failure(kind, group, -1, null, ranks, detail, Duration.ZERO, Duration.ZERO);
	}

	/** The same, with other words on what was seen. */
	public Failure withDetail(String other) {
		return new Failure(this.kind, this.group, this.sequence, this.collective, this.ranks, other, this.elapsed,
				this.timeout);
	}

	/** One sentence for people: which ranks, where in the order, what, after how long. */
	public String describe() {
		StringBuilder text = new StringBuilder();
		if (this.collective != null) {
			text.append(this.collective).append(" #").append(this.sequence).append(" of ");
		}
		text.append("group ").append(this.group).append(": ").append(what()).append(": ").append(this.detail);
		if (this.kind != Kind.TIMEOUT && !this.elapsed.isZero()) {
			text.append(" (after ").append(seconds(this.elapsed));
			if (!this.timeout.isZero()) {
				text.append(" of ").append(seconds(this.timeout));
			}
			text.append(')');
		}
		return text.toString();
	}

	private String what() {
		return switch (this.kind) {
			case TIMEOUT -> "deadline passed after " + seconds(this.elapsed) + " of " + seconds(this.timeout)
					+ (this.ranks.isEmpty() ? "" : ", waiting for " + names());
			case MISMATCH -> "ranks called different collectives";
			case PEER_LOST -> names() + " lost";
			case ABORTED -> "aborted" + (this.ranks.isEmpty() ? "" : " by " + names());
		};
	}

	private String names() {
		String list = this.ranks.stream().map(String::valueOf).collect(Collectors.joining(", "));
		return (this.ranks.size() == 1 ? "rank " : "ranks ") + list;
	}

	private static String seconds(Duration duration) {
		long millis = duration.toMillis();
		return (millis < 10_000) ? millis + " ms" : (millis + 500) / 1000 + " s";
	}

}
