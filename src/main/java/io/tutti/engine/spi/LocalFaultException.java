package io.tutti.engine.spi;

import java.io.IOException;

import org.jspecify.annotations.Nullable;

/**
 * A connection that this rank could not make for a reason of its own, such as its limit
 * of open files. The peer is not at fault.
 */
public class LocalFaultException extends IOException {

	private static final long serialVersionUID = 1L;

	public LocalFaultException(String message, @Nullable Throwable cause) {
		super(message, cause);
	}

}
