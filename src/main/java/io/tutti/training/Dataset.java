package io.tutti.training;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.MessageDigest;

/**
 * Numbers to learn from: rows of features, and for each row the class it belongs to.
 *
 * @param columns features per row
 * @param classes how many classes there are
 * @param features the rows one after the other
 * @param labels class of each row, 0 to {@code classes - 1}
 */
record Dataset(int columns, int classes, float[] features, int[] labels) {

	/** How many rows there are. */
	int rows() {
		return this.labels.length;
	}

	/** The values of one column, row by row. */
	float[] column(int column) {
		float[] values = new float[rows()];
		for (int row = 0; row < values.length; row++) {
			values[row] = this.features[row * this.columns + column];
		}
		return values;
	}

	/** SHA-256 over all numbers, in hexadecimal: what tells one table from another. */
	String sha256() {
		MessageDigest digest = Sha256.newDigest();
		ByteBuffer row = ByteBuffer.allocate((this.columns + 1) * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
		for (int index = 0; index < rows(); index++) {
			row.clear();
			row.asFloatBuffer().put(this.features, index * this.columns, this.columns);
			row.putInt(this.columns * Float.BYTES, this.labels[index]);
			digest.update(row);
		}
		return Sha256.hex(digest);
	}

	/** Some of the rows, in the order given. */
	Dataset select(int[] rows, int from, int to) {
		float[] selected = new float[(to - from) * this.columns];
		int[] selectedLabels = new int[to - from];
		for (int index = from; index < to; index++) {
			System.arraycopy(this.features, rows[index] * this.columns, selected, (index - from) * this.columns,
					this.columns);
			selectedLabels[index - from] = this.labels[rows[index]];
		}
		return new Dataset(this.columns, this.classes, selected, selectedLabels);
	}

}
