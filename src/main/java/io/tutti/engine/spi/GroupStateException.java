package io.tutti.engine.spi;

import java.util.List;

import org.jspecify.annotations.Nullable;

/**
 * A call that the state of the group or of a buffer on this rank does not allow, such as
 * any call after {@code close}. Other ranks are not affected.
 */
public final class GroupStateException extends IllegalStateException implements CallOrigin.Holder {

	private static final long serialVersionUID = 1L;

	private final CallOrigin origin;

	/**
	 * @param problem what is not allowed and what to do, with no full stop
	 */
	public GroupStateException(CallOrigin origin, String problem, @Nullable Throwable cause) {
		super(origin.start() + problem, cause);
		this.origin = origin;
	}

	/** For a call other than a collective after {@code close}. */
	public static GroupStateException closed(GroupIdentity identity) {
		return closed(CallOrigin.in(identity));
	}

	/** For a call after {@code close}. */
	public static GroupStateException closed(CallOrigin origin) {
		return new GroupStateException(origin, "the group is closed on this rank; make no call on it after close",
				null);
	}

	/**
	 * For a message whose buffer was closed before it was transferred.
	 * @param peer rank of the group at the other end, negative for any
	 */
	public static GroupStateException bufferClosed(GroupIdentity identity, int peer, String problem) {
		return new GroupStateException(CallOrigin.about(identity, (peer >= 0) ? List.of(peer) : List.of()), problem,
				null);
	}

	@Override
	public CallOrigin origin() {
		return this.origin;
	}

}
