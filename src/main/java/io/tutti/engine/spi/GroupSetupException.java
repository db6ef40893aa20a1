package io.tutti.engine.spi;

import java.io.IOException;
import java.io.UncheckedIOException;

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
		super(CallOrigin.in(identity).start() + problem + ": " + CleanUp.message(cause), cause);
		this.origin = CallOrigin.in(identity);
	}

	@Override
	public CallOrigin origin() {
		return this.origin;
	}

}
