package io.tutti.training;

import org.jspecify.annotations.Nullable;

/**
 * A table that cannot be trained on; the message names the file and, where it lies in
 * one, the line and the column.
 */
public final class MalformedDataException extends IllegalArgumentException {

	private static final long serialVersionUID = 1L;

	MalformedDataException(String message) {
		this(message, null);
	}

	MalformedDataException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
