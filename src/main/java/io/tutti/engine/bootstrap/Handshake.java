package io.tutti.engine.bootstrap;

import java.io.EOFException;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;

import io.tutti.engine.control.ControlMessage;
import io.tutti.engine.control.ControlMessage.Challenge;
import io.tutti.engine.control.ControlMessage.ClientHello;
import io.tutti.engine.control.ControlMessage.DataHello;
import io.tutti.engine.control.ControlMessage.ForeignHello;
import io.tutti.engine.control.ControlMessage.FormationHello;
import io.tutti.engine.control.ControlMessage.Hello;
import io.tutti.engine.control.ControlMessage.Proof;
import io.tutti.engine.control.ControlMessage.Refused;
import io.tutti.engine.control.ControlMessage.Welcome;
import io.tutti.engine.control.MalformedFrameException;
import io.tutti.engine.control.MessageCodec;
import io.tutti.engine.control.RendezvousException.Reason;
import io.tutti.engine.control.SessionKey;
import io.tutti.engine.spi.CleanUp;
import io.tutti.engine.tls.HandshakeDeadline;
import io.tutti.engine.tls.PeerSocket;
import io.tutti.engine.tls.SocketWait;
import io.tutti.engine.tls.Tls;
import org.jspecify.annotations.Nullable;

/**
 * The handshake of every connection between ranks: hello, challenge, proof, welcome. Both
 * sides prove that they know the key, by HMAC over the hello and random bytes of both;
 * the hello holds the purpose, so that a proof for one port is invalid at another. The
 * accepting side may answer with a refusal instead, which states the reason. Blocks;
 * thread-safe.
 *
 * @param <H> the hello of the purpose: {@link Hello} at the rendezvous address,
 * {@link DataHello} at a data port, {@link FormationHello} at a formation endpoint
 */
public final class Handshake<H extends ClientHello> {

	/** Maximum frame size of a peer that has not authenticated. */
	static final int MAX_FRAME_BYTES = 4 << 10;

	/** The start of a TLS record: type 22, major version 3. */
	private static final int TLS_HANDSHAKE = 0x1603;

	/** Starts of HTTP requests. */
	private static final Set<String> HTTP_METHODS = Set.of("GET ", "HEAD", "POST", "PUT ", "OPTI", "DELE", "PRI ");

	private static final String NO_TOKEN = "tutti: this job has no token";

	private static final String CLIENT = "tutti: the connecting side proves itself";

	private static final String SERVER = "tutti: the accepting side proves itself";

	private static final String SESSION = "tutti: session key";

	private static final SecureRandom RANDOM = new SecureRandom();

	/** An authenticated client, and the answer that authenticates the accepting side. */
	public record Verified<H>(H hello, Welcome welcome) {
	}

	private final Class<H> purpose;

	private final SessionKey key;

	private final String wrongKey;

	private Handshake(Class<H> purpose, SessionKey key, String wrongKey) {
		this.purpose = purpose;
		this.key = key;
		this.wrongKey = wrongKey;
	}

	/**
	 * The handshake at the rendezvous address. A job without a token uses a well-known
	 * key: the steps are the same, and a side with a token detects a side without.
	 */
	static Handshake<Hello> ofControl(@Nullable String token) {
		return new Handshake<>(Hello.class, new SessionKey(utf8((token != null) ? token : NO_TOKEN)),
				"the token is wrong or missing; every rank of a job needs the same tutti.security.token");
	}

	/** The handshake at the data port of a rank. */
	public static Handshake<DataHello> ofData(SessionKey key) {
		return new Handshake<>(DataHello.class, key,
				"the session key is wrong; the process belongs to another job or generation");
	}

	/** The handshake at the formation endpoint of a member of an elastic job. */
	public static Handshake<FormationHello> ofFormation(@Nullable String token) {
		return new Handshake<>(FormationHello.class, ofControl(token).key, ofControl(token).wrongKey);
	}

	/** Random bytes, as many as a proof has. */
	static byte[] nonce() {
		byte[] nonce = new byte[MessageCodec.NONCE_BYTES];
		RANDOM.nextBytes(nonce);
		return nonce;
	}

	/** The session key that every rank derives from rank 0's nonce. */
	SessionKey session(byte[] keyNonce) {
		return new SessionKey(this.key.prove(join(utf8(SESSION), keyNonce)));
	}

	/**
	 * Connects to a peer and authenticates both sides.
	 * @param tls {@code null} for plain TCP
	 * @param hello the hello for the local address of the connection
	 * @param deadline checked while the peer does not answer
	 * @throws HandshakeException if one side refuses the other
	 */
	public PeerSocket connect(InetSocketAddress address, @Nullable Tls tls, Function<InetSocketAddress, H> hello,
			HandshakeDeadline deadline) throws IOException {
		PeerSocket socket = PeerSocket.connect(address, tls, deadline);
		// The peer may have accepted the proof already, so that a failure resets.
		return CleanUp.orElse(() -> {
			connect(socket, hello.apply((InetSocketAddress) socket.socket().getLocalAddress()), deadline);
			return socket;
		}, socket::reset);
	}

	void connect(ByteChannel channel, H hello, HandshakeDeadline deadline) throws IOException {
		write(channel, hello, deadline);
		byte[] challenge = read(Challenge.class, channel, deadline).nonce();
		byte[] nonce = nonce();
		write(channel, new Proof(nonce, this.key.prove(signed(CLIENT, hello, challenge, nonce))), deadline);
		byte[] proof = read(Welcome.class, channel, deadline).proof();
		if (!this.key.proves(signed(SERVER, hello, challenge, nonce), proof)) {
			throw new HandshakeException(Reason.AUTHENTICATION, "it did not prove that it knows the key");
		}
	}

	/**
	 * Authenticates a client.
	 * @throws HandshakeException if the client must be refused
	 */
	Verified<H> accept(ByteChannel channel, HandshakeDeadline deadline) throws IOException {
		H hello = read(this.purpose, channel, deadline);
		byte[] challenge = nonce();
		write(channel, new Challenge(challenge), deadline);
		Proof answer = read(Proof.class, channel, deadline);
		if (!this.key.proves(signed(CLIENT, hello, challenge, answer.nonce()), answer.proof())) {
			throw new HandshakeException(Reason.AUTHENTICATION, this.wrongKey);
		}
		return new Verified<>(hello, new Welcome(this.key.prove(signed(SERVER, hello, challenge, answer.nonce()))));
	}

	/**
	 * Sends a whole message, see
	 * {@link #write(ByteChannel, ByteBuffer, HandshakeDeadline)}.
	 */
	public static void write(ByteChannel channel, ControlMessage message, HandshakeDeadline deadline)
			throws IOException {
		write(channel, MessageCodec.encode(message), deadline);
	}

	/**
	 * Writes a whole frame to a channel that does not block.
	 * @param deadline checked while the peer takes nothing
	 */
	public static void write(ByteChannel channel, ByteBuffer frame, HandshakeDeadline deadline) throws IOException {
		SocketWait wait = new SocketWait(deadline);
		channel.write(frame);
		while (frame.hasRemaining()) {
			wait.pause();
			channel.write(frame);
		}
	}

	private static <M extends ControlMessage> M read(Class<M> type, ByteChannel channel, HandshakeDeadline deadline)
			throws IOException {
		ControlMessage message = read(channel, deadline);
		if (type.isInstance(message)) {
			return type.cast(message);
		}
		throw switch (message) {
			case Refused refusal -> HandshakeException.received(refusal);
			case ForeignHello(int version) -> new HandshakeException(Reason.PROTOCOL, "protocol version " + version
					+ " differs from version " + MessageCodec.VERSION + "; run the same version of Tutti everywhere");
			default -> new HandshakeException(Reason.PROTOCOL,
					"expected " + type.getSimpleName() + ", got " + message.getClass().getSimpleName());
		};
	}

	private static ControlMessage read(ByteChannel channel, HandshakeDeadline deadline) throws IOException {
		byte[] start = read(channel, Integer.BYTES, deadline);
		if (HTTP_METHODS.contains(new String(start, StandardCharsets.US_ASCII))) {
			throw new HandshakeException(Reason.PROTOCOL,
					"it speaks HTTP, and this port is for ranks; send the request to tutti.http.port");
		}
		int length = ByteBuffer.wrap(start).getInt();
		if (length >>> Short.SIZE == TLS_HANDSHAKE) {
			throw new HandshakeException(Reason.AUTHENTICATION,
					"it speaks TLS, which this job does not use; give every rank the same tutti.tls.bundle, or none");
		}
		if (length < 1 || length > MAX_FRAME_BYTES) {
			throw new HandshakeException(Reason.PROTOCOL,
					"a frame must have 1.." + MAX_FRAME_BYTES + " bytes, got " + length);
		}
		try {
			return MessageCodec.decode(ByteBuffer.wrap(read(channel, length, deadline)));
		}
		catch (MalformedFrameException ex) {
			throw HandshakeException.malformed(ex);
		}
	}

	/**
	 * Reads so many bytes from a channel that does not block.
	 * @param deadline checked again and again until all have arrived; it may end the wait
	 * @throws IOException if the connection ends or fails before
	 */
	public static byte[] read(ByteChannel channel, int count, HandshakeDeadline deadline) throws IOException {
		SocketWait wait = new SocketWait(deadline);
		ByteBuffer bytes = ByteBuffer.allocate(count);
		while (bytes.hasRemaining()) {
			deadline.check();
			int read = channel.read(bytes);
			if (read < 0) {
				throw new EOFException("the peer closed the connection during the handshake");
			}
			if (read == 0) {
				wait.pause();
			}
		}
		return bytes.array();
	}

	private static byte[] signed(String side, ClientHello hello, byte[] challenge, byte[] nonce) {
		ByteBuffer encoded = MessageCodec.encode(hello);
		byte[] bytes = new byte[encoded.remaining()];
		encoded.get(bytes);
		return join(utf8(side), bytes, challenge, nonce);
	}

	private static byte[] join(byte[]... parts) {
		ByteBuffer joined = ByteBuffer.allocate(Stream.of(parts).mapToInt((part) -> part.length).sum());
		Stream.of(parts).forEach(joined::put);
		return joined.array();
	}

	private static byte[] utf8(String text) {
		return text.getBytes(StandardCharsets.UTF_8);
	}

}
