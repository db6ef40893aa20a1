package io.tutti.training;

/**
 * A table that cannot be trained on; the message names the file, the line and the column.
 */
public final class MalformedDataException extends IllegalArgumentException {

	private static final long serialVersionUID = 1L;

	MalformedDataException(String message) {
		super(message);
	}

}
