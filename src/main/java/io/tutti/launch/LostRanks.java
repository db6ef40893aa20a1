package io.tutti.launch;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * Decides what follows the loss of a rank of an elastic job: its restart, a job that
 * continues without it, or the end of the job. The restarts of all ranks of this machine
 * together are limited. A rank that is lost again and again waits longer before each
 * restart.
 */
final class LostRanks {

	/** Doubled with each restart of the same rank. */
	private static final Duration FIRST_BACK_OFF = Duration.ofMillis(100);

	private static final Duration LONGEST_BACK_OFF = Duration.ofSeconds(10);

	private final int least;

	private final int onOtherMachines;

	private final int maxRestarts;

	private final Map<Integer, Integer> restartsByRank = new HashMap<>();

	private int restarts;

	LostRanks(LaunchPlan plan, ElasticRanks ranks) {
		this.least = ranks.least();
		this.onOtherMachines = plan.worldSize() - plan.ranksPerNode();
		this.maxRestarts = plan.maxRestarts();
	}

	/**
	 * Decides about a rank that has failed.
	 * @param left ranks of this machine that run or wait for their restart, without the
	 * failed one; ranks of other machines count as running
	 */
	Decision after(RankExit end, int left) {
		if (!end.restartOfOneMayHelp() && !isReplacementThatCannotStart(end)) {
			return new End("the job ends, since a restart cannot help");
		}
		if (this.restarts < this.maxRestarts) {
			return restart(end.rank());
		}
		int world = left + this.onOtherMachines;
		if (left == 0 || world < this.least) {
			return new End("the job ends: " + count(world) + " left, fewer than the minimum of " + this.least
					+ ", and no restart is left of " + this.maxRestarts);
		}
		return new Continue(
				"not restarted, since no restart is left of " + this.maxRestarts + "; " + count(world) + " left");
	}

	/**
	 * The same start has succeeded before, so that what it needs, such as its port, may
	 * be missing for a moment only. The other ranks continue meanwhile.
	 */
	private boolean isReplacementThatCannotStart(RankExit end) {
		return restarted(end.rank()) && end.failedToStart();
	}

	private Restart restart(int rank) {
		this.restarts++;
		int earlier = this.restartsByRank.merge(rank, 1, Integer::sum) - 1;
		long backOffMillis = Math.min(LONGEST_BACK_OFF.toMillis(), FIRST_BACK_OFF.toMillis() << Math.min(earlier, 10));
		return new Restart(
				"restarting it in " + backOffMillis / 1000.0 + " s (" + this.restarts + " of " + this.maxRestarts + ")",
				Duration.ofMillis(backOffMillis));
	}

	/** Whether the process of a rank is a replacement of the first one. */
	boolean restarted(int rank) {
		return this.restartsByRank.containsKey(rank);
	}

	private static String count(int ranks) {
		return (ranks == 1) ? "1 rank is" : ranks + " ranks are";
	}

	/** What follows a loss. */
	sealed interface Decision {

		/** The decision as the second half of a line about the lost rank. */
		String text();

	}

	record Restart(String text, Duration backOff) implements Decision {

	}

	record Continue(String text) implements Decision {

	}

	record End(String text) implements Decision {

	}

}
