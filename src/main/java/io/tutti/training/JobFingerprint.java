package io.tutti.training;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * What a job's parameters follow from, as named values: whoever shares a job, a rank or a
 * checkpoint, must agree in all of them.
 *
 * @param values the names and values, such as {@code seed 1}
 */
record JobFingerprint(List<Value> values) {

	/**
	 * Counts the ways in which columns have been scaled and steps sized: what was begun
	 * in an older way cannot go on in this one.
	 */
	private static final String RECIPE = "2";

	/** A name and its value. */
	record Value(String name, String value) {

		@Override
		public String toString() {
			return this.name + " " + this.value;
		}

	}

	JobFingerprint {
		values = List.copyOf(values);
	}

	static JobFingerprint of(TrainingOptions options, Dataset data) {
		return new JobFingerprint(List.of(new Value("seed", Long.toString(options.seed())),
				new Value("global batch", Integer.toString(options.globalBatch())),
				new Value("learning rate", Double.toString(options.learningRate())), new Value("data", data.sha256()),
				new Value("model", data.columns() + "-" + Classifier.HIDDEN + "-" + data.classes()),
				new Value("recipe", RECIPE)));
	}

	/** The same with one more value. */
	JobFingerprint with(String name, Object value) {
		List<Value> more = new ArrayList<>(this.values);
		more.add(new Value(name, value.toString()));
		return new JobFingerprint(more);
	}

	/** The first value that another fingerprint has otherwise. */
	Optional<Value> firstDifference(JobFingerprint other) {
		return this.values.stream().filter((value) -> !other.values.contains(value)).findFirst();
	}

	/** The value of that name, in words. */
	String describe(String name) {
		return this.values.stream()
			.filter((value) -> value.name().equals(name))
			.map(Value::toString)
			.findFirst()
			.orElse("no " + name);
	}

	/** The text that {@link #parse} reads. */
	String text() {
		return this.values.stream()
			.map((value) -> value.name() + "=" + value.value())
			.collect(Collectors.joining("\n"));
	}

	/** What {@link #text()} wrote. */
	static JobFingerprint parse(String text) {
		List<Value> values = new ArrayList<>();
		for (String line : text.split("\n")) {
			int separator = line.indexOf('=');
			if (separator < 0) {
				throw new IllegalArgumentException("'" + line + "' is not name=value");
			}
			values.add(new Value(line.substring(0, separator), line.substring(separator + 1)));
		}
		return new JobFingerprint(values);
	}

}
