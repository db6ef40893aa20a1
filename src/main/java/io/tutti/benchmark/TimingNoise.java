package io.tutti.benchmark;

import org.jspecify.annotations.Nullable;

/**
 * Detects from a benchmark's results that other processes used the cores: most calls then
 * take far longer than the shortest one.
 */
public final class TimingNoise {

	/**
	 * On an idle machine the median is rarely more than 1.5 times the shortest time.
	 */
	private static final double SLOW_FACTOR = 2;

	/** One line out of this many may be disturbed by chance. */
	private static final int LINES_PER_OUTLIER = 4;

	private int lines;

	private int disturbed;

	/** Adds a line. */
	public void take(Measurement line) {
		this.lines++;
		if (line.p50Micros() > SLOW_FACTOR * line.minMicros()) {
			this.disturbed++;
		}
	}

	/** A warning for the user, {@code null} if there was no disturbance. */
	public @Nullable String note() {
		if (this.disturbed * LINES_PER_OUTLIER <= this.lines) {
			return null;
		}
		return "in " + this.disturbed + " of " + this.lines + " lines the median is more than twice the shortest time:"
				+ " other processes used the cores, or there are fewer cores than ranks";
	}

}
