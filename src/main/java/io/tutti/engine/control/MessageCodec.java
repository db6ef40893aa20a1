package io.tutti.engine.control;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.List;

import io.tutti.engine.control.ControlMessage.Awaiting;
import io.tutti.engine.control.ControlMessage.CallsReported;
import io.tutti.engine.control.ControlMessage.Challenge;
import io.tutti.engine.control.ControlMessage.ClientHello;
import io.tutti.engine.control.ControlMessage.Confirm;
import io.tutti.engine.control.ControlMessage.DataHello;
import io.tutti.engine.control.ControlMessage.Departed;
import io.tutti.engine.control.ControlMessage.Drain;
import io.tutti.engine.control.ControlMessage.EnterRound;
import io.tutti.engine.control.ControlMessage.ForeignHello;
import io.tutti.engine.control.ControlMessage.FormationHello;
import io.tutti.engine.control.ControlMessage.ForwardedTrace;
import io.tutti.engine.control.ControlMessage.Hello;
import io.tutti.engine.control.ControlMessage.Leave;
import io.tutti.engine.control.ControlMessage.LeftGroup;
import io.tutti.engine.control.ControlMessage.PeerUpdate;
import io.tutti.engine.control.ControlMessage.Ping;
import io.tutti.engine.control.ControlMessage.Pong;
import io.tutti.engine.control.ControlMessage.Proof;
import io.tutti.engine.control.ControlMessage.QueryCall;
import io.tutti.engine.control.ControlMessage.QueryTrace;
import io.tutti.engine.control.ControlMessage.QueryTraces;
import io.tutti.engine.control.ControlMessage.RankZeroLeft;
import io.tutti.engine.control.ControlMessage.Refused;
import io.tutti.engine.control.ControlMessage.Report;
import io.tutti.engine.control.ControlMessage.QueryProgress;
import io.tutti.engine.control.ControlMessage.ProgressReply;
import io.tutti.engine.control.ControlMessage.Roster;
import io.tutti.engine.control.ControlMessage.RoundEnded;
import io.tutti.engine.control.ControlMessage.TraceReply;
import io.tutti.engine.control.ControlMessage.Verdict;
import io.tutti.engine.control.ControlMessage.Welcome;
import io.tutti.engine.control.ControlMessage.Withdraw;

/**
 * Encodes and decodes control messages. A frame is its length (4 bytes), the type (1
 * byte) and the components of the message as {@link RecordCodec} encodes them. A hello
 * has a magic number, the version and the purpose of the connection before its
 * components. This start of a hello and a refusal keep their layout in every version, so
 * that processes of two versions can report the difference. Any other change of a message
 * or of the order below takes a new {@link #VERSION}, and so does a change of the bytes
 * that ranks exchange on their other connections, which have no version of their own.
 */
public final class MessageCodec {

	/** Random bytes that each side contributes; as many as a proof has. */
	public static final int NONCE_BYTES = SessionKey.PROOF_BYTES;

	public static final int VERSION = 15;

	/** "TUTI" in ASCII. */
	public static final int MAGIC = 0x54555449;

	/** The type byte of a message is its place in this list, from 1. */
	private static final List<Class<? extends ControlMessage>> TYPES = List.of(Hello.class, Challenge.class,
			Proof.class, Welcome.class, Refused.class, Awaiting.class, Roster.class, Ping.class, Pong.class,
			Report.class, ProgressReply.class, Leave.class, Verdict.class, QueryProgress.class, Drain.class,
			PeerUpdate.class, RankZeroLeft.class, CallsReported.class, QueryCall.class, LeftGroup.class, Departed.class,
			QueryTraces.class, QueryTrace.class, TraceReply.class, ForwardedTrace.class, EnterRound.class,
			Withdraw.class, Confirm.class, RoundEnded.class);

	private static final int HELLO = 1;

	/** The purpose in a hello is the place of its class in this list. */
	private static final List<Class<? extends ClientHello>> HELLOS = List.of(Hello.class, DataHello.class,
			FormationHello.class);

	private MessageCodec() {
	}

	/** Encodes a message as a frame, including the length. */
	public static ByteBuffer encode(ControlMessage message) {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		try (DataOutputStream out = new DataOutputStream(bytes)) {
			out.writeInt(0);
			if (message instanceof ClientHello || message instanceof ForeignHello) {
				out.writeByte(HELLO);
				out.writeInt(MAGIC);
			}
			else {
				out.writeByte(1 + TYPES.indexOf(message.getClass()));
			}
			if (message instanceof ClientHello) {
				out.writeInt(VERSION);
				out.writeByte(HELLOS.indexOf(message.getClass()));
			}
			RecordCodec.write((Record) message, out);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		ByteBuffer frame = ByteBuffer.wrap(bytes.toByteArray());
		return frame.putInt(0, frame.capacity() - Integer.BYTES).asReadOnlyBuffer();
	}

	/**
	 * Decodes the message of a frame.
	 * @param payload the frame without its length
	 * @throws MalformedFrameException if the bytes are not a valid message
	 */
	public static ControlMessage decode(ByteBuffer payload) throws MalformedFrameException {
		try {
			int type = payload.get();
			if (type < 1 || type > TYPES.size()) {
				throw new MalformedFrameException("no message has type " + type);
			}
			if (type == HELLO) {
				requireMagic(payload.getInt());
				int version = payload.getInt();
				if (version != VERSION) {
					payload.position(payload.limit());
					return new ForeignHello(version);
				}
				int purpose = payload.get();
				if (purpose < 0 || purpose >= HELLOS.size()) {
					throw new MalformedFrameException("no connection has purpose " + purpose);
				}
				return RecordCodec.decode(HELLOS.get(purpose), payload);
			}
			return RecordCodec.decode(TYPES.get(type - 1), payload);
		}
		catch (BufferUnderflowException ex) {
			throw new MalformedFrameException("a frame ends within a field");
		}
	}

	private static void requireMagic(int magic) throws MalformedFrameException {
		if (magic != MAGIC) {
			throw new MalformedFrameException("not Tutti's magic number: 0x" + Integer.toHexString(magic));
		}
	}

}
