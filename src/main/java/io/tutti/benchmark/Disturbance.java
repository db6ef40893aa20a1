package io.tutti.benchmark;

import org.jspecify.annotations.Nullable;

/**
 * Tells from a benchmark's own figures whether something else used the cores meanwhile:
 * then most calls take far longer than the shortest.
 */
public final class Disturbance {

	/**
	 * On a quiet machine the median is rarely half as long again as the shortest time.
	 */
	private static final double FAR_ABOVE = 2;

	/** One line in so many may be disturbed by chance. */
	private static final int TOLERATED = 4;

	private int lines;

	private int disturbed;

	/** Takes a line into account. */
	public void take(Measurement line) {
		this.lines++;
		if (line.p50Micros() > FAR_ABOVE * line.minMicros()) {
			this.disturbed++;
		}
	}

	/** What the user should know, {@code null} if all was quiet. */
	public @Nullable String note() {
		if (this.disturbed * TOLERATED <= this.lines) {
			return null;
		}
		return "in " + this.disturbed + " of " + this.lines + " lines the median is more than twice the shortest time:"
				+ " something else used the cores, or there are fewer of them than ranks";
	}

}
