package io.tutti.launch;

import io.tutti.ExitCode;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * Result of one start of a whole group.
 *
 * @param ends the exit of every rank, in the order in which they ended
 * @param endedBeforeStop how many ranks had ended, and been reported, before the launcher
 * was asked to stop the rest; they do not count as failures of the stop
 * @param stopped whether the launcher had been asked to stop
 */
record GroupExit(List<RankExit> ends, int endedBeforeStop, boolean stopped) {

	GroupExit {
		ends = List.copyOf(ends);
	}

	/** The first rank to fail, {@code null} if none did. */
	@Nullable RankExit firstFailure() {
		return this.ends.stream().skip(this.endedBeforeStop).filter(RankExit::failed).findFirst().orElse(null);
	}

	int exitCode() {
		RankExit failure = firstFailure();
		return (failure != null) ? failure.exitCode() : ExitCode.DONE;
	}

	/** One line about a group that stopped on request. */
	String describeStop() {
		boolean allAlike = this.ends.stream().allMatch((end) -> end.exitCode() == ExitCode.STOPPED_ON_REQUEST);
		return "stopped on request; " + (allAlike ? "every rank ended with " + ExitCode.STOPPED_ON_REQUEST
				: "the ranks ended with: " + briefly(this.ends.stream()));
	}

	/** One line about a failure and the exits of the other ranks. */
	String describe(RankExit failure) {
		String others = briefly(this.ends.stream().filter((end) -> end.rank() != failure.rank()));
		return failure.describe() + (others.isEmpty() ? "" : "; the others ended with: " + others);
	}

	private static String briefly(Stream<RankExit> ends) {
		return ends.map(RankExit::brief).collect(Collectors.joining(", "));
	}

}
