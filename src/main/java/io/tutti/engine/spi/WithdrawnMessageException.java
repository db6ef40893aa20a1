package io.tutti.engine.spi;

import java.util.List;
import java.util.concurrent.CancellationException;

/**
 * A send or receive was cancelled before a message matched it. The group stays usable.
 */
public final class WithdrawnMessageException extends CancellationException implements CallOrigin.Holder {

	private static final long serialVersionUID = 1L;

	private final CallOrigin origin;

	/**
	 * @param peer rank of the group at the other end, negative for any
	 * @param operation the send or receive
	 */
	public WithdrawnMessageException(GroupIdentity identity, int peer, String operation) {
		this(CallOrigin.about(identity, (peer >= 0) ? List.of(peer) : List.of()), operation);
	}

	private WithdrawnMessageException(CallOrigin origin, String operation) {
		super(origin.start() + "the " + operation + " was withdrawn by cancel");
		this.origin = origin;
	}

	@Override
	public CallOrigin origin() {
		return this.origin;
	}

}
