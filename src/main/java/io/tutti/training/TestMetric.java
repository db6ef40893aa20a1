package io.tutti.training;

import java.util.Locale;

/**
 * What the evaluation on the test samples measures.
 *
 * @param name name in lower case, such as {@code accuracy}
 * @param percent whether the values are shares from 0 to 1, shown in percent
 */
public record TestMetric(String name, boolean percent) {

	/** Share of correct answers. */
	public static final TestMetric ACCURACY = new TestMetric("accuracy", true);

	/** Mean loss. */
	public static final TestMetric LOSS = new TestMetric("loss", false);

	/** Checks the values. */
	public TestMetric {
		if (!name.matches("[a-z][a-z0-9 ]*")) {
			throw new IllegalArgumentException(
					"the name of a metric must consist of lower-case letters, digits and blanks, got '" + name + "'");
		}
	}

	/**
	 * A value with its unit, such as {@code 98.33 %}.
	 * @param value mean of the scores
	 * @return the text, with the unit
	 */
	public String format(double value) {
		return String.format(Locale.ROOT, this.percent ? "%.2f %%" : "%.4f", this.percent ? 100 * value : value);
	}

	/**
	 * {@return name of the report's field, such as {@code testAccuracy}}
	 */
	public String field() {
		StringBuilder field = new StringBuilder("test");
		for (String word : this.name.strip().split(" +")) {
			field.append(Character.toUpperCase(word.charAt(0))).append(word, 1, word.length());
		}
		return field.toString();
	}

}
