package io.tutti.engine.bootstrap;

import io.tutti.engine.control.ControlMessage;
import io.tutti.engine.control.ControlMessage.Challenge;
import io.tutti.engine.control.ControlMessage.ForeignHello;
import io.tutti.engine.control.ControlMessage.Hello;
import io.tutti.engine.control.ControlMessage.Proof;
import io.tutti.engine.control.ControlMessage.Refused;
import io.tutti.engine.control.MalformedFrameException;
import io.tutti.engine.control.MessageCodec;
import io.tutti.engine.control.RendezvousException;
import org.jspecify.annotations.Nullable;

/**
 * Rank 0's side of one handshake: hello, challenge, proof. A client learns nothing of the
 * job before its proof is verified.
 */
final class ServerHandshake {

	/** What to do with the client. */
	sealed interface Step {

	}

	/** Answer and wait for the next message. */
	record Answer(ControlMessage message) implements Step {
	}

	/** The client knows the token. The join policy decides whether it joins. */
	record Proved(Hello hello) implements Step {
	}

	/** Send the reason and close. */
	record Refuse(Refused refusal) implements Step {
	}

	private final HandshakeProof proofs;

	private final byte[] challenge;

	private @Nullable Hello hello;

	ServerHandshake(HandshakeProof proofs) {
		this.proofs = proofs;
		this.challenge = proofs.nonce();
	}

	/**
	 * Handles the client's next message.
	 * @throws MalformedFrameException if it is out of order
	 */
	Step receive(ControlMessage message) throws MalformedFrameException {
		if (message instanceof ForeignHello(int version)) {
			return new Refuse(new Refused(RendezvousException.Reason.PROTOCOL, "rank 0 speaks protocol version "
					+ MessageCodec.VERSION + ", not " + version + "; run the same version of Tutti everywhere"));
		}
		if (this.hello == null && message instanceof Hello first) {
			this.hello = first;
			return new Answer(new Challenge(this.challenge));
		}
		if (this.hello != null && message instanceof Proof(byte[] proof)) {
			return check(this.hello, proof);
		}
		throw new MalformedFrameException("a " + message.getClass().getSimpleName() + " out of turn");
	}

	/** Rank 0's own proof, after the client's. */
	byte[] answerProof(Hello pending, long generation) {
		return this.proofs.ofRankZero(pending, this.challenge, generation);
	}

	private Step check(Hello pending, byte[] proof) {
		if (this.proofs.isOfRank(pending, this.challenge, proof)) {
			return new Proved(pending);
		}
		return new Refuse(new Refused(RendezvousException.Reason.AUTHENTICATION,
				"the token is wrong or missing; every rank of a job needs the same tutti.security.token"));
	}

}
