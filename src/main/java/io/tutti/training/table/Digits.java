package io.tutti.training.table;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;

/**
 * The bundled digits data set: 1797 images of handwritten digits, 8 by 8 pixels. The
 * resource {@code digits.txt} names its source.
 */
public final class Digits {

	private static final String RESOURCE = "digits.csv.gz";

	private Digits() {
	}

	/**
	 * {@return the data set: 64 features from 0 to 16 per row, classes 0 to 9}
	 */
	public static Dataset read() {
		try (InputStream stream = Digits.class.getResourceAsStream(RESOURCE)) {
			if (stream == null) {
				throw new IllegalStateException("the digits (" + RESOURCE + ") are missing from the class path");
			}
			return TableReader.read(TableSource.of(Path.of(RESOURCE)), stream);
		}
		catch (IOException ex) {
			throw new UncheckedIOException("cannot read " + RESOURCE, ex);
		}
	}

}
