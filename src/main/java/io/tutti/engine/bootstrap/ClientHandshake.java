package io.tutti.engine.bootstrap;

import java.io.EOFException;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

import io.tutti.engine.control.ControlConnection;
import io.tutti.engine.control.ControlMessage;
import io.tutti.engine.control.ControlMessage.Challenge;
import io.tutti.engine.control.ControlMessage.Hello;
import io.tutti.engine.control.ControlMessage.Proof;
import io.tutti.engine.control.ControlMessage.Refused;
import io.tutti.engine.control.ControlMessage.Welcome;
import io.tutti.engine.control.MalformedFrameException;
import io.tutti.engine.control.RendezvousException;
import io.tutti.engine.control.RendezvousException.Reason;
import io.tutti.engine.tls.Tls;
import io.tutti.engine.tls.TlsException;
import org.jspecify.annotations.Nullable;

/**
 * One attempt of a rank to join, on the thread that waits for the rendezvous.
 * <p>
 * An {@link IOException} means that another attempt may succeed; a
 * {@link RendezvousException} that none will.
 */
final class ClientHandshake {

	/** Enough for the handshake. Later messages stay in the socket. */
	private static final int SCRATCH_BYTES = 8 << 10;

	private final HandshakeProof proofs;

	private final RendezvousFailure failure;

	private final @Nullable Tls tls;

	private final long limitNanos;

	private final long startNanos = System.nanoTime();

	private final ByteBuffer scratch = ByteBuffer.allocateDirect(SCRATCH_BYTES);

	ClientHandshake(HandshakeProof proofs, RendezvousFailure failure, @Nullable Tls tls, Duration limit) {
		this.proofs = proofs;
		this.failure = failure;
		this.tls = tls;
		this.limitNanos = limit.toNanos();
	}

	/**
	 * Connects to one address and does the handshake.
	 * @param hello this rank; without an advertised host it gets the connection's local
	 * address
	 * @return the connection, after rank 0 has accepted this rank and proved itself
	 */
	ControlConnection knock(InetAddress address, int port, Hello hello) throws IOException, InterruptedException {
		SocketChannel channel = SocketChannel.open();
		try {
			connect(channel, new InetSocketAddress(address, port));
			return greeted(secured(channel), hello);
		}
		catch (TlsException ex) {
			channel.close();
			throw this.failure.tls(ex);
		}
		catch (IOException | InterruptedException | RuntimeException ex) {
			channel.close();
			throw ex;
		}
	}

	private void connect(SocketChannel channel, InetSocketAddress address) throws IOException, InterruptedException {
		channel.configureBlocking(false);
		// The kernel may choose the port that rank 0 is about to bind. Rank 0 must be
		// able to bind it, also while the connection is in TIME_WAIT.
		channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
		try (Selector selector = Selector.open()) {
			channel.register(selector, SelectionKey.OP_CONNECT);
			if (address.getAddress().isLoopbackAddress()) {
				// For 127.0.1.1, the address of some hosts' own names, the kernel would
				// choose 127.0.0.1 as the source; but peers connect to the source
				// address.
				channel.bind(new InetSocketAddress(address.getAddress(), 0));
			}
			if (!channel.connect(address)) {
				while (!channel.finishConnect()) {
					select(selector);
				}
			}
		}
		if (channel.getLocalAddress().equals(channel.getRemoteAddress())) {
			throw new ConnectException("connected to itself");
		}
	}

	private ControlConnection secured(SocketChannel channel) throws IOException {
		Tls spoken = this.tls;
		if (spoken == null) {
			return new ControlConnection(channel);
		}
		channel.configureBlocking(true);
		return new ControlConnection(spoken.connect(channel, this::requireTime));
	}

	private ControlConnection greeted(ControlConnection connection, Hello hello)
			throws IOException, InterruptedException {
		try (Selector selector = Selector.open()) {
			connection.register(connection.channel().register(selector, SelectionKey.OP_READ));
			greet(connection, selector, withLocalHost(hello, connection));
			connection.trust();
			return connection;
		}
	}

	private void greet(ControlConnection connection, Selector selector, Hello hello)
			throws IOException, InterruptedException {
		connection.send(hello);
		if (!(next(connection, selector) instanceof Challenge(byte[] challenge))) {
			throw wrongPeer("it did not ask for proof");
		}
		connection.send(new Proof(this.proofs.ofRank(hello, challenge)));
		if (!(next(connection, selector) instanceof Welcome(long generation, byte[] proof))) {
			throw wrongPeer("it did not give a welcome");
		}
		if (!this.proofs.isOfRankZero(hello, challenge, generation, proof)) {
			throw this.failure.wrongPeer(Reason.AUTHENTICATION, "it does not know the token", null);
		}
	}

	private ControlMessage next(ControlConnection connection, Selector selector)
			throws IOException, InterruptedException {
		try {
			ControlMessage message = connection.next();
			while (message == null) {
				select(selector);
				connection.flush();
				boolean open = connection.fill(this.scratch);
				message = connection.next();
				if (message == null && !open) {
					throw new EOFException("the connection was closed during the handshake");
				}
			}
			return (message instanceof Refused refusal) ? refused(refusal) : message;
		}
		catch (MalformedFrameException ex) {
			throw this.failure.wrongPeer(Reason.PROTOCOL, ex.getMessage(), ex);
		}
	}

	private ControlMessage refused(Refused refusal) throws IOException {
		Reason reason = refusal.reason();
		if (reason != null) {
			throw this.failure.refused(reason, refusal.message());
		}
		throw new JoinRejectedException(refusal.message());
	}

	private RendezvousException wrongPeer(String detail) {
		return this.failure.wrongPeer(Reason.PROTOCOL, detail, null);
	}

	private void select(Selector selector) throws IOException, InterruptedException {
		requireTime();
		selector.select(Math.max(1, leftMillis()));
		selector.selectedKeys().clear();
		if (Thread.interrupted()) {
			throw new InterruptedException("interrupted during the handshake");
		}
	}

	private void requireTime() throws SocketTimeoutException {
		if (leftMillis() <= 0) {
			throw new SocketTimeoutException(
					"no answer within " + TimeUnit.NANOSECONDS.toMillis(this.limitNanos) + " ms");
		}
	}

	private long leftMillis() {
		return TimeUnit.NANOSECONDS.toMillis(this.limitNanos - (System.nanoTime() - this.startNanos));
	}

	private static Hello withLocalHost(Hello hello, ControlConnection connection) throws IOException {
		if (hello.hostChosen()) {
			return hello;
		}
		return new Hello(hello.jobId(), hello.generation(), hello.rank(), hello.worldSize(),
				RendezvousAddress.text(connection.local().getAddress()), false, hello.dataPort(), hello.hostIdentity(),
				hello.nonce());
	}

}
