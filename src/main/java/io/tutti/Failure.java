package io.tutti;

import java.io.Serializable;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * A failure of a group, as data that ranks can exchange. One rank reports what it
 * detected; rank 0's verdict is then the cause on every rank.
 *
 * @param kind kind of failure
 * @param group name of the group in which it happened; a lost peer breaks every group
 * that contains it, and a lost rank 0 every group of the job
 * @param sequence number of the collective in the group, -1 outside of a collective
 * @param collective the collective that failed, {@code null} outside of a collective
 * @param ranks the world ranks at fault: lost, missing, in disagreement, gone or
 * aborting; may be empty
 * @param detail description of what was detected, shortened to 8192 characters
 * @param elapsed time from the start of the call until the failure was detected
 * @param timeout timeout of the call, zero if none applied
 * @param exitCode exit code of a process that ends with this failure, in 1..255
 */
public record Failure(Kind kind, String group, long sequence, @Nullable Collective collective, List<Integer> ranks,
		String detail, Duration elapsed, Duration timeout, int exitCode) implements Serializable {

	/** The kinds of failure of a formed group. */
	public enum Kind {

		/** The deadline of a collective passed. */
		TIMEOUT(ExitCode.DEADLINE_PASSED),
		/** Ranks called different collectives at the same sequence number. */
		MISMATCH(ExitCode.MISMATCH),
		/**
		 * A rank's process ended, stopped sending heartbeats or was disconnected, or the
		 * rank left the job in order and another rank still needed it.
		 */
		PEER_LOST(ExitCode.PEER_LOST),
		/**
		 * The group was aborted on request, or broken by a rank that could not continue,
		 * that closed it during its own call or message, or that left a subgroup in order
		 * while another rank still needed it there. The rank itself may still run.
		 */
		ABORTED(ExitCode.PEER_LOST);

		private final int exitCode;

		Kind(int exitCode) {
			this.exitCode = exitCode;
		}

	}

	/**
	 * An exception that holds the place of its failure as data. What does not exist where
	 * it is thrown, such as the collective of a failed rendezvous, is -1, empty or
	 * {@code null}. Every exception of a group is one, except those for a wrong argument
	 * that a rank finds before it communicates, whose message names the place.
	 */
	public interface Origin {

		/**
		 * The rank, among all ranks of the job, that threw the exception.
		 * @return the rank, -1 if it was not known
		 */
		int rank();

		/**
		 * Number of ranks of the job.
		 * @return the number of ranks, -1 if it was not known
		 */
		int worldSize();

		/**
		 * The ranks of the job that the failure is about, other than this one where there
		 * are others.
		 * @return the ranks that are lost, missing, in disagreement or at the other end
		 */
		default List<Integer> peers() {
			return List.of();
		}

		/**
		 * Name of the group.
		 * @return name of the group, {@code null} before there is one
		 */
		default @Nullable String group() {
			return null;
		}

		/**
		 * The collective that failed.
		 * @return the collective, {@code null} outside of a collective
		 */
		default @Nullable Collective collective() {
			return null;
		}

		/**
		 * Number of the collective in its group.
		 * @return the number, -1 outside of a collective
		 */
		default long sequence() {
			return -1;
		}

		/**
		 * The address that the failure is about.
		 * @return host and port, {@code null} if it is about none
		 */
		default @Nullable String endpoint() {
			return null;
		}

	}

	/** The name of the group of all ranks. */
	public static final String WORLD = "world";

	/** The longest text that is sent to another rank. */
	private static final int MAX_DETAIL_CHARACTERS = 8192;

	private static final int MAX_EXIT_CODE = 255;

	/** Maximum number of ranks that a message names. */
	private static final int NAMED = 16;

	/**
	 * Copies the ranks and shortens a longer detail, so that it is the same on the rank
	 * that detected the failure and on those that it is sent to.
	 * @throws IllegalArgumentException if a process cannot end with the exit code
	 */
	public Failure {
		if (exitCode < 1 || exitCode > MAX_EXIT_CODE) {
			throw new IllegalArgumentException("exitCode must be in 1.." + MAX_EXIT_CODE + ", got " + exitCode);
		}
		ranks = List.copyOf(ranks);
		detail = shortened(detail);
	}

	/**
	 * A failure with the exit code of its kind, which for an abort is that of a rank that
	 * could not continue.
	 * @param kind kind of failure
	 * @param group name of the group
	 * @param sequence number of the collective in the group, -1 outside of a collective
	 * @param collective the collective, {@code null} outside of a collective
	 * @param ranks the world ranks at fault
	 * @param detail description of what was detected
	 * @param elapsed time from the start of the call until the failure was detected
	 * @param timeout timeout of the call, zero if none applied
	 */
	public Failure(Kind kind, String group, long sequence, @Nullable Collective collective, List<Integer> ranks,
			String detail, Duration elapsed, Duration timeout) {
		this(kind, group, sequence, collective, ranks, detail, elapsed, timeout, kind.exitCode);
	}

	/** Does not keep half of a surrogate pair, which cannot be encoded. */
	private static String shortened(String detail) {
		if (detail.length() <= MAX_DETAIL_CHARACTERS) {
			return detail;
		}
		int end = MAX_DETAIL_CHARACTERS - 1;
		return detail.substring(0, Character.isHighSurrogate(detail.charAt(end - 1)) ? end - 1 : end) + "…";
	}

	/**
	 * A failure detected outside of any collective call. For implementations of groups
	 * and their tests; programs receive failures.
	 * @param kind kind of failure
	 * @param group name of the group
	 * @param ranks the world ranks at fault
	 * @param detail description of what was detected
	 * @return a failure detected outside of any collective call
	 */
	public static Failure outside(Kind kind, String group, List<Integer> ranks, String detail) {
		return new Failure(kind, group, -1, null, ranks, detail, Duration.ZERO, Duration.ZERO);
	}

	/**
	 * The same failure with another detail text. For implementations of groups.
	 * @param other the new detail text
	 * @return the same failure with another detail text
	 */
	public Failure withDetail(String other) {
		return new Failure(this.kind, this.group, this.sequence, this.collective, this.ranks, other, this.elapsed,
				this.timeout, this.exitCode);
	}

	/**
	 * The same failure with another exit code. For implementations of groups.
	 * @param other the new exit code, in 1..255
	 * @return the same failure with another exit code
	 */
	public Failure withExitCode(int other) {
		return new Failure(this.kind, this.group, this.sequence, this.collective, this.ranks, this.detail, this.elapsed,
				this.timeout, other);
	}

	/**
	 * One readable sentence: collective, sequence, group, ranks, cause and elapsed time.
	 * @return one readable sentence: collective, sequence, group, ranks, cause and
	 * elapsed time
	 */
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
			case MISMATCH -> (this.collective != null) ? "ranks called different collectives" : "the ranks differ";
			case PEER_LOST -> names() + " lost";
			case ABORTED -> ((this.exitCode == this.kind.exitCode) ? "broken" : "aborted")
					+ (this.ranks.isEmpty() ? "" : " by " + names());
		};
	}

	private String names() {
		String list = this.ranks.stream().limit(NAMED).map(String::valueOf).collect(Collectors.joining(", "));
		int more = this.ranks.size() - NAMED;
		return (this.ranks.size() == 1 ? "rank " : "ranks ") + list + ((more > 0) ? " and " + more + " more" : "");
	}

	private static String seconds(Duration duration) {
		long millis = duration.toMillis();
		return (millis < 10_000) ? millis + " ms" : (millis + 500) / 1000 + " s";
	}

}
