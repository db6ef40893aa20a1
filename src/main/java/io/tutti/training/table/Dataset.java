package io.tutti.training.table;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.List;

import io.tutti.engine.spi.Sha256;

/**
 * A labelled data set: rows of features, and the class of each row.
 *
 * @param columns features per row
 * @param classes number of classes
 * @param features rows x columns values in row-major order
 * @param labels class of each row, 0 to {@code classes - 1}
 * @param classNames names of the classes, empty if the table holds their numbers
 * @param testRows number of rows at the end that are for the test, 0 to set aside a part
 */
public record Dataset(int columns, int classes, double[] features, int[] labels, List<String> classNames,
		int testRows) {

	/** Copies the list of names. */
	public Dataset {
		classNames = List.copyOf(classNames);
	}

	/**
	 * A data set of numbered classes without test rows.
	 * @param columns number of features
	 * @param classes number of classes
	 * @param features the features, row by row, of length rows × columns
	 * @param labels the class of each row, from 0
	 */
	public Dataset(int columns, int classes, double[] features, int[] labels) {
		this(columns, classes, features, labels, List.of(), 0);
	}

	/**
	 * {@return the number of rows}
	 */
	public int rows() {
		return this.labels.length;
	}

	/** The features as 32-bit floats. */
	float[] roundedFeatures() {
		float[] rounded = new float[this.features.length];
		for (int index = 0; index < rounded.length; index++) {
			rounded[index] = (float) this.features[index];
		}
		return rounded;
	}

	/** The values of one column, row by row. */
	double[] column(int column) {
		double[] values = new double[rows()];
		for (int row = 0; row < values.length; row++) {
			values[row] = this.features[row * this.columns + column];
		}
		return values;
	}

	/**
	 * SHA-256 over all features and labels, the names of the classes and the number of
	 * test rows, if any, in hexadecimal; identifies the table.
	 */
	String sha256() {
		MessageDigest digest = Sha256.newDigest();
		ByteBuffer row = ByteBuffer.allocate(this.columns * (Float.BYTES + Double.BYTES) + Integer.BYTES)
			.order(ByteOrder.LITTLE_ENDIAN);
		for (int index = 0; index < rows(); index++) {
			double[] values = Arrays.copyOfRange(this.features, index * this.columns, (index + 1) * this.columns);
			row.clear();
			Arrays.stream(values).forEach((value) -> row.putFloat((float) value));
			row.putInt(this.labels[index]);
			Arrays.stream(values).filter((value) -> (float) value != value).forEach(row::putDouble);
			digest.update(row.flip());
		}
		for (String name : this.classNames) {
			digest.update(name.getBytes(StandardCharsets.UTF_8));
			digest.update((byte) '\n');
		}
		if (this.testRows > 0) {
			digest.update(("test rows " + this.testRows).getBytes(StandardCharsets.UTF_8));
		}
		return Sha256.hex(digest);
	}

	/** The rows {@code rows[from]} to {@code rows[to - 1]}, in that order. */
	Dataset select(int[] rows, int from, int to) {
		double[] selected = new double[(to - from) * this.columns];
		int[] selectedLabels = new int[to - from];
		for (int index = from; index < to; index++) {
			System.arraycopy(this.features, rows[index] * this.columns, selected, (index - from) * this.columns,
					this.columns);
			selectedLabels[index - from] = this.labels[rows[index]];
		}
		return new Dataset(this.columns, this.classes, selected, selectedLabels);
	}

}
