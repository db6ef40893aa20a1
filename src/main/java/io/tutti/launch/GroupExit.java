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
 * @param firstFailure the first rank to fail, or the one that made those before it end;
 * {@code null} if none did, apart from ranks lost before the launcher was asked to stop
 * @param stopped whether the launcher had been asked to stop
 */
record GroupExit(List<RankExit> ends, @Nullable RankExit firstFailure, boolean stopped) {

	GroupExit {
		ends = List.copyOf(ends);
	}

	int exitCode() {
		return (this.firstFailure != null) ? this.firstFailure.exitCode() : ExitCode.DONE;
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
