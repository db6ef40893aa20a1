package io.tutti.engine.spi;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Objects;

/**
 * A group or one of its resources could not be set up on this rank, as when the system
 * refuses memory or connections.
 */
public final class GroupSetupException extends UncheckedIOException implements CallOrigin.Holder {

	private static final long serialVersionUID = 1L;

	private final CallOrigin origin;

	/**
	 * @param problem what could not be set up, as a sentence with no full stop
	 */
	public GroupSetupException(GroupIdentity identity, String problem, IOException cause) {
		super(CallOrigin.in(identity).start() + problem + ": " + problem(cause), cause);
		this.origin = CallOrigin.in(identity);
	}

	/** An exception's message, or its class name if it has none. */
	public static String problem(Throwable cause) {
		return Objects.requireNonNullElse(cause.getMessage(), cause.getClass().getSimpleName());
	}

	@Override
	public CallOrigin origin() {
		return this.origin;
	}

}
