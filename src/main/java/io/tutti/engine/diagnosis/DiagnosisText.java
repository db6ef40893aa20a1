package io.tutti.engine.diagnosis;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * Formats ranks and times for messages.
 */
final class DiagnosisText {

	/** Maximum number of ranks that are named. */
	private static final int NAMED = 16;

	private static final double MICROS_PER_MILLI = 1e3;

	private static final double MICROS_PER_SECOND = 1e6;

	private DiagnosisText() {
	}

	/** Such as {@code rank 3} or {@code ranks 0, 1 and 2}. */
	static String ranks(List<Integer> ranks) {
		if (ranks.size() == 1) {
			return "rank " + ranks.getFirst();
		}
		boolean all = ranks.size() <= NAMED;
		return "ranks "
				+ ranks.stream()
					.limit(all ? ranks.size() - 1 : NAMED)
					.map(String::valueOf)
					.collect(Collectors.joining(", "))
				+ " and " + (all ? ranks.getLast() : ranks.size() - NAMED + " more");
	}

	/** Such as {@code 250 µs}, {@code 3.1 ms} or {@code 12.0 s}. */
	static String time(long micros) {
		if (micros < MICROS_PER_MILLI) {
			return micros + " µs";
		}
		return (micros < MICROS_PER_SECOND) ? String.format(Locale.ROOT, "%.1f ms", micros / MICROS_PER_MILLI)
				: String.format(Locale.ROOT, "%.1f s", micros / MICROS_PER_SECOND);
	}

}
