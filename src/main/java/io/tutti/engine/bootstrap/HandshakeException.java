package io.tutti.engine.bootstrap;

import java.io.IOException;

import io.tutti.engine.control.ControlMessage.Refused;
import io.tutti.engine.control.RendezvousException.Reason;
import io.tutti.engine.spi.OneLine;
import org.jspecify.annotations.Nullable;

/**
 * One side of a handshake refuses the other. The message states what is wrong with the
 * refused side, in one line: it may contain text of a peer.
 */
public final class HandshakeException extends IOException {

	private static final long serialVersionUID = 1L;

	private final @Nullable Reason reason;

	private final boolean byPeer;

	private HandshakeException(@Nullable Reason reason, String message, boolean byPeer, @Nullable Exception cause) {
		super(OneLine.of(message), cause);
		this.reason = reason;
		this.byPeer = byPeer;
	}

	/**
	 * This side refuses the peer.
	 * @param reason why no retry can succeed, {@code null} if the peer may try again
	 */
	public HandshakeException(@Nullable Reason reason, String message) {
		this(reason, message, false, null);
	}

	/** Refuses a client whose rank a live process has. */
	public static HandshakeException duplicate(int rank) {
		return new HandshakeException(Reason.DUPLICATE_RANK,
				"another process already is rank " + rank + "; give every process a rank of its own");
	}

	/** The peer sent a malformed message. */
	static HandshakeException malformed(Exception cause) {
		return new HandshakeException(Reason.PROTOCOL, String.valueOf(cause.getMessage()), false, cause);
	}

	/** The peer refuses this side. */
	static HandshakeException received(Refused refusal) {
		return new HandshakeException(refusal.reason(), refusal.message(), true, null);
	}

	/** Why no retry can succeed, {@code null} if one may. */
	public @Nullable Reason reason() {
		return this.reason;
	}

	/** Whether the peer has refused this side. */
	boolean byPeer() {
		return this.byPeer;
	}

	/** The message that tells the peer. */
	Refused message() {
		return new Refused(this.reason, String.valueOf(getMessage()));
	}

}
