package io.tutti.engine.rendezvous.meeting;

import java.util.function.IntFunction;

import io.tutti.engine.rendezvous.ControlEvents;
import io.tutti.engine.rendezvous.RendezvousException;
import io.tutti.engine.rendezvous.wire.ControlMessage;
import io.tutti.engine.rendezvous.wire.ControlMessage.Greeting;
import io.tutti.engine.rendezvous.wire.ControlMessage.Hello;
import io.tutti.engine.rendezvous.wire.ControlMessage.Refused;
import io.tutti.engine.rendezvous.wire.MalformedFrameException;
import org.jspecify.annotations.Nullable;

/**
 * Talks to callers until they get a seat or are turned away.
 */
final class Gatekeeper {

	/** More warnings than this, which strangers can cause, would flood a log. */
	private static final int MOST_WARNINGS = 20;

	private final Admission admission;

	private final ControlEvents events;

	private int warnings;

	Gatekeeper(Admission admission, ControlEvents events) {
		this.admission = admission;
		this.events = events;
	}

	long generation() {
		return this.admission.generation();
	}

	/**
	 * Takes a caller's next message.
	 * @param seats how a rank's seat stands
	 * @return who the caller is, if it may have its seat, else {@code null}
	 */
	@Nullable Hello greet(Caller caller, Greeting greeting, IntFunction<Admission.Seat> seats) throws MalformedFrameException {
		return switch (caller.handshake().receive(greeting)) {
			case ServerHandshake.Answer(ControlMessage message) -> {
				caller.connection().send(message);
				yield null;
			}
			case ServerHandshake.Refuse(Refused refusal) -> refuse(caller, "a caller", refusal);
			case ServerHandshake.Proved(Hello hello) -> judge(caller, hello, seats);
		};
	}

	private @Nullable Hello judge(Caller caller, Hello hello, IntFunction<Admission.Seat> seats) {
		Refused refusal = this.admission.judge(hello);
		if (refusal == null) {
			refusal = this.admission.judge(hello, seats.apply(hello.rank()));
		}
		return (refusal != null) ? refuse(caller, "rank " + hello.rank(), refusal) : hello;
	}

	private @Nullable Hello refuse(Caller caller, String who, Refused refusal) {
		warn("refused " + who + " from " + caller.describe() + ": " + refusal.message());
		caller.refuse(refusal);
		return null;
	}

	/** What a caller sent is no message. */
	void hungUp(Caller caller, MalformedFrameException ex) {
		hungUp(caller.describe(), String.valueOf(ex.getMessage()));
	}

	/** Somebody was not let in as far as a greeting. */
	void hungUp(String from, String why) {
		warn("hung up on a caller from " + from + ": " + why);
	}

	/** A caller speaks TLS to a job that does not. */
	void refuseTls(Caller caller) {
		refuse(caller, "a caller", new Refused(RendezvousException.Reason.AUTHENTICATION,
				"it speaks TLS, and rank 0 does not; give every " + "rank the same tutti.tls.bundle, or none"));
	}

	private void warn(String message) {
		if (this.warnings++ < MOST_WARNINGS) {
			this.events.warn(message);
			if (this.warnings == MOST_WARNINGS) {
				this.events.warn("further callers that are turned away are not reported");
			}
		}
	}

}
