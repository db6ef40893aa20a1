package io.tutti.launch;

import java.util.List;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

/**
 * How one start of a whole group ended.
 *
 * @param ends every rank, in the order in which they ended
 * @param stopped whether the launcher had been told to stop
 */
record GroupEnd(List<RankEnd> ends, boolean stopped) {

	GroupEnd {
		ends = List.copyOf(ends);
	}

	/** The first rank to fail, {@code null} if none did. */
	@Nullable RankEnd firstFailure() {
		return this.ends.stream().filter(RankEnd::failed).findFirst().orElse(null);
	}

	int exitCode() {
		RankEnd failure = firstFailure();
		return (failure != null) ? failure.exitCode() : 0;
	}

	/** One line about a failure and how the others ended. */
	String describe(RankEnd failure) {
		String others = this.ends.stream()
			.filter((end) -> end.rank() != failure.rank())
			.map(RankEnd::brief)
			.collect(Collectors.joining(", "));
		return failure.describe() + (others.isEmpty() ? "" : "; the others ended with: " + others);
	}

}
