package io.tutti.engine.bootstrap;

import io.tutti.engine.control.RendezvousException;
import io.tutti.engine.control.ControlMessage;
import io.tutti.engine.control.ControlMessage.Challenge;
import io.tutti.engine.control.ControlMessage.ForeignHello;
import io.tutti.engine.control.ControlMessage.Hello;
import io.tutti.engine.control.ControlMessage.Proof;
import io.tutti.engine.control.ControlMessage.Refused;
import io.tutti.engine.control.MalformedFrameException;
import io.tutti.engine.control.MessageCodec;
import org.jspecify.annotations.Nullable;

/**
 * One caller's way to its proof, as rank 0 sees it: hello, challenge, proof. Nothing of
 * the job is told before the proof is right.
 */
final class ServerHandshake {

	/** What to do with the caller. */
	sealed interface Step {

	}

	/** Answer and wait for more. */
	record Answer(ControlMessage message) implements Step {
	}

	/** The caller knows the token; whether it gets a seat is another question. */
	record Proved(Hello hello) implements Step {
	}

	/** Say why and hang up. */
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
	 * Takes the caller's next message.
	 * @throws MalformedFrameException if it is out of turn
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

	/** Rank 0's own proof, once the caller has given its. */
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
