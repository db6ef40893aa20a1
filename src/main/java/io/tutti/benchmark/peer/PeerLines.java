package io.tutti.benchmark.peer;

import java.util.Arrays;
import java.util.List;
import java.util.Optional;

import io.tutti.benchmark.Measurement;
import io.tutti.benchmark.Operation;

/**
 * Parses the output of a peer's program.
 */
final class PeerLines {

	/** First field of a result line. */
	private static final String MARK = "R";

	private static final int FIELDS = 11;

	private static final int ELEMENT_BYTES = Float.BYTES;

	private PeerLines() {
	}

	/**
	 * The measurements among the lines. Other and incomplete lines are ignored.
	 */
	static List<Measurement> parse(List<String> lines) {
		return lines.stream().map(PeerLines::parse).flatMap(Optional::stream).toList();
	}

	private static Optional<Measurement> parse(String line) {
		String[] fields = line.split("\t");
		if (fields.length != FIELDS || !fields[0].equals(MARK)) {
			return Optional.empty();
		}
		try {
			return operation(fields[3]).map((operation) -> measurement(fields, operation));
		}
		catch (NumberFormatException ex) {
			return Optional.empty();
		}
	}

	private static Measurement measurement(String[] fields, Operation operation) {
		long bytes = Long.parseLong(fields[5]);
		return new Measurement(fields[1], fields[2], operation, Integer.parseInt(fields[4]), bytes,
				bytes / ELEMENT_BYTES, Double.parseDouble(fields[6]), Double.parseDouble(fields[7]),
				Double.parseDouble(fields[8]), Integer.parseInt(fields[9]), Long.parseLong(fields[10]));
	}

	private static Optional<Operation> operation(String label) {
		return Arrays.stream(Operation.values()).filter((operation) -> operation.label().equals(label)).findFirst();
	}

}
