package io.tutti.training.benchmark;

import java.util.Optional;

/**
 * Times of the training steps of one model in one variant; the slowest rank's.
 *
 * @param system the system, {@code tutti} or {@code c10d-gloo}
 * @param variant what a step does, such as {@code none} for no communication
 * @param ranks world size
 * @param parameters number of parameters, all float32
 * @param batch samples per rank and step
 * @param p50Millis median time of a step in milliseconds
 * @param minMillis fastest step in milliseconds
 * @param aloneMillis median of the same system's step without communication
 * @param aloneMinMillis fastest of these
 * @param allReduceMillis fastest all-reduce of as many bytes from private memory, which
 * nothing else disturbs; 0 if it was not measured
 * @param steps number of measured steps
 */
public record StepMeasurement(String system, String variant, int ranks, long parameters, int batch, double p50Millis,
		double minMillis, double aloneMillis, double aloneMinMillis, double allReduceMillis, int steps) {

	/** The variant without communication. */
	public static final String ALONE = "none";

	/** Samples of all ranks per second. */
	public double samplesPerSecond() {
		return this.ranks * this.batch / (this.p50Millis / 1e3);
	}

	/** What communication adds to the median step, in milliseconds; at least 0. */
	public double exposedMillis() {
		return Math.max(0, this.p50Millis - this.aloneMillis);
	}

	/** The same of the fastest steps, which other programs disturb least. */
	public double exposedMinMillis() {
		return Math.max(0, this.minMillis - this.aloneMinMillis);
	}

	/** Part of a step that waits for communication, from 0 to 1. */
	public double exposedShare() {
		return exposedMillis() / this.p50Millis;
	}

	/**
	 * Parses a line {@code variant parameters batch p50 min alone aloneMin steps} of
	 * another system's program, separated by tabs; empty for other output.
	 */
	public static Optional<StepMeasurement> parse(String system, int ranks, String line) {
		String[] cells = line.split("\t");
		if (cells.length != 8) {
			return Optional.empty();
		}
		try {
			return Optional.of(new StepMeasurement(system, cells[0], ranks, Long.parseLong(cells[1]),
					Integer.parseInt(cells[2]), Double.parseDouble(cells[3]), Double.parseDouble(cells[4]),
					Double.parseDouble(cells[5]), Double.parseDouble(cells[6]), 0, Integer.parseInt(cells[7])));
		}
		catch (NumberFormatException ex) {
			return Optional.empty();
		}
	}

}
