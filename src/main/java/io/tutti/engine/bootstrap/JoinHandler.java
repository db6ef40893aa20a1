package io.tutti.engine.bootstrap;

import java.util.function.IntFunction;

import io.tutti.engine.control.ControlListener;
import io.tutti.engine.control.ControlMessage;
import io.tutti.engine.control.ControlMessage.Greeting;
import io.tutti.engine.control.ControlMessage.Hello;
import io.tutti.engine.control.ControlMessage.Refused;
import io.tutti.engine.control.MalformedFrameException;
import io.tutti.engine.control.RendezvousException;
import org.jspecify.annotations.Nullable;

/**
 * Takes clients through the rendezvous handshake until they join or are rejected.
 */
final class JoinHandler {

	/** Limit of warnings, since hostile clients can cause any number of them. */
	private static final int MOST_WARNINGS = 20;

	private final JoinPolicy policy;

	private final ControlListener events;

	private int warnings;

	JoinHandler(JoinPolicy policy, ControlListener events) {
		this.policy = policy;
		this.events = events;
	}

	long generation() {
		return this.policy.generation();
	}

	/**
	 * Handles a client's next message.
	 * @param slots the state of a rank's place
	 * @return the client's hello if it may join, else {@code null}
	 */
	@Nullable Hello greet(PendingConnection pending, Greeting greeting, IntFunction<JoinPolicy.Slot> slots)
			throws MalformedFrameException {
		return switch (pending.handshake().receive(greeting)) {
			case ServerHandshake.Answer(ControlMessage message) -> {
				pending.connection().send(message);
				yield null;
			}
			case ServerHandshake.Refuse(Refused refusal) -> refuse(pending, "a client", refusal);
			case ServerHandshake.Proved(Hello hello) -> judge(pending, hello, slots);
		};
	}

	private @Nullable Hello judge(PendingConnection pending, Hello hello, IntFunction<JoinPolicy.Slot> slots) {
		Refused refusal = this.policy.judge(hello);
		if (refusal == null) {
			refusal = this.policy.judge(hello, slots.apply(hello.rank()));
		}
		return (refusal != null) ? refuse(pending, "rank " + hello.rank(), refusal) : hello;
	}

	private @Nullable Hello refuse(PendingConnection pending, String who, Refused refusal) {
		warn("refused " + who + " from " + pending.describe() + ": " + refusal.message());
		pending.refuse(refusal);
		return null;
	}

	/** A client has sent a malformed frame. */
	void closed(PendingConnection pending, MalformedFrameException ex) {
		closed(pending.describe(), String.valueOf(ex.getMessage()));
	}

	/** A client was closed before its first message. */
	void closed(String from, String why) {
		warn("closed the connection of a client at " + from + ": " + why);
	}

	/** A client speaks TLS to a job that does not. */
	void refuseTls(PendingConnection pending) {
		refuse(pending, "a client", new Refused(RendezvousException.Reason.AUTHENTICATION,
				"it speaks TLS, and rank 0 does not; give every rank the same tutti.tls.bundle, or none"));
	}

	private void warn(String message) {
		if (this.warnings++ < MOST_WARNINGS) {
			this.events.warn(message);
			if (this.warnings == MOST_WARNINGS) {
				this.events.warn("further rejected clients are not reported");
			}
		}
	}

}
