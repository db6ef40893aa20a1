package io.tutti.engine.tls;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.tutti.OwnThread;
import io.tutti.engine.tls.TlsException.Reason;
import org.bouncycastle.asn1.x509.KeyPurposeId;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(60)
class TlsChannelTest {

	private static final Authority OURS = Authority.named("CN=ours");

	private static final Authority THEIRS = Authority.named("CN=theirs");

	private static final Authority IMPOSTOR = Authority.named("CN=ours");

	private static final Tls GOOD = OURS.tls(OURS.rank());

	private final ServerSocketChannel listener = listen();

	private CompletableFuture<TlsChannel> dialed;

	private TlsChannel connected;

	private TlsChannel accepted;

	private static ServerSocketChannel listen() {
		try {
			return ServerSocketChannel.open().bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@AfterEach
	void close() throws IOException {
		this.listener.close();
		for (TlsChannel channel : new TlsChannel[] { this.connected, this.accepted }) {
			if (channel != null) {
				channel.close();
			}
		}
	}

	@Test
	void bytesArriveUnchangedAndAreEncryptedOnTheNetwork() throws Exception {
		handshake(GOOD, GOOD);
		assertThat(this.connected.session().getProtocol()).isEqualTo("TLSv1.3");
		byte[] sent = new byte[300_000];
		new Random(1).nextBytes(sent);
		for (int capacity : new int[] { 1, 100, 16_384, 300_000 }) {
			exchange(sent, capacity);
		}
	}

	/** Fewer bytes may be offered than are encrypted already. */
	@ParameterizedTest
	@ValueSource(ints = { 5_000, 32 << 20 })
	void bytesBeyondTheSocketBufferAreAcceptedOnlyWhenSent(int offeredBytes) throws Exception {
		handshake(GOOD, GOOD);
		this.connected.enlargeBuffers();
		this.accepted.enlargeBuffers();
		byte[] sent = new byte[32 << 20];
		new Random(2).nextBytes(sent);
		ByteBuffer out = ByteBuffer.wrap(sent);
		while (this.connected.write(out) > 0) {
			assertThat(out.hasRemaining()).isTrue();
		}
		ByteBuffer in = ByteBuffer.allocateDirect(sent.length);
		while (in.hasRemaining()) {
			this.accepted.read(in);
			ByteBuffer offered = out.slice(out.position(), Math.min(offeredBytes, out.remaining()));
			out.position(out.position() + this.connected.write(offered));
		}
		byte[] got = new byte[sent.length];
		in.flip().get(got);
		assertThat(got).isEqualTo(sent);
		assertThat(this.accepted.read(ByteBuffer.allocate(1))).isZero();
	}

	@Test
	void aTlsCloseIsReportedAsTheEnd() throws Exception {
		handshake(GOOD, GOOD);
		this.connected.write(ByteBuffer.wrap(new byte[] { 7 }));
		assertThat(this.connected.shutdownOutput()).isTrue();
		ByteBuffer in = ByteBuffer.allocate(10);
		while (this.accepted.read(in) >= 0) {
			assertThat(in.position()).isLessThan(10);
		}
		assertThat(in.position()).isOne();
		this.accepted.write(ByteBuffer.wrap(new byte[] { 8 }));
		assertThat(read(this.connected, 1)).containsExactly(8);
	}

	@Test
	void anEndWithoutATlsCloseIsAFailureAndTheConnectionIsNotUsedAgain() throws Exception {
		handshake(GOOD, GOOD);
		this.connected.close();
		assertThatThrownBy(() -> read(this.accepted, 1)).isInstanceOf(UncheckedIOException.class);
		assertThatThrownBy(() -> this.accepted.read(ByteBuffer.allocate(1))).hasMessageContaining("failed before");
		assertThatThrownBy(() -> this.accepted.write(ByteBuffer.allocate(1))).hasMessageContaining("failed before");
	}

	@Test
	void whatThePeerSentBeforeItClosedIsReadAfterAFailedWrite() throws Exception {
		handshake(GOOD, GOOD);
		this.connected.write(ByteBuffer.wrap(new byte[] { 7 }));
		this.connected.shutdownOutput();
		this.connected.close();
		assertThatThrownBy(() -> {
			while (true) {
				this.accepted.write(ByteBuffer.allocate(1));
			}
		}).isInstanceOf(IOException.class);
		assertThatThrownBy(() -> this.accepted.write(ByteBuffer.allocate(1))).hasMessageContaining("failed before");
		assertThat(read(this.accepted, 1)).containsExactly(7);
		assertThat(this.accepted.read(ByteBuffer.allocate(1))).isEqualTo(-1);
	}

	@Test
	void aByteChangedInTransitIsDetected() throws Exception {
		handshake(GOOD, GOOD);
		this.connected.socket().write(ByteBuffer.wrap(new byte[] { 23, 3, 3, 0, 20 }));
		this.connected.socket().write(ByteBuffer.allocate(20));
		assertThatThrownBy(() -> read(this.accepted, 1)).hasCauseInstanceOf(TlsException.class);
		assertThatThrownBy(() -> this.accepted.read(ByteBuffer.allocate(1))).hasMessageContaining("failed before");
	}

	@Test
	void aClientOfAnotherAuthorityIsRejectedWithAnAlert() {
		Tls untrusted = new Tls(() -> OURS.context(THEIRS.rank()), List.of(), Authority.NAME);
		assertThat(accepting(untrusted, GOOD)).isNotNull();
		assertThat(connecting()).isEqualTo(Reason.REFUSED);
	}

	@Test
	void anAuthorityWithOnlyTheSameNameIsNotTrusted() {
		Tls impostor = new Tls(() -> OURS.context(IMPOSTOR.rank()), List.of(), Authority.NAME);
		assertThat(accepting(impostor, GOOD)).hasMessageContaining("its certificate is not trusted")
			.extracting(TlsException::reason)
			.isEqualTo(Reason.UNTRUSTED);
		assertThat(connecting()).isEqualTo(Reason.REFUSED);
	}

	@Test
	void aClientWithoutACertificateIsRejected() {
		assertThat(accepting(OURS.tls(), GOOD)).hasMessageContaining("Empty client certificate chain");
		assertThat(connecting()).isEqualTo(Reason.REFUSED);
	}

	@Test
	void aClientWithAnExpiredCertificateIsRejected() {
		assertThat(accepting(OURS.tls(OURS.issue(Duration.ofHours(-1), List.of(Authority.NAME))), GOOD))
			.hasMessageContaining("it has expired");
		assertThat(connecting()).isEqualTo(Reason.REFUSED);
	}

	@Test
	void aClientWithACertificateForServersOnlyIsRejected() {
		assertThat(accepting(
				OURS.tls(OURS.issue(Duration.ofDays(1), List.of(Authority.NAME), KeyPurposeId.id_kp_serverAuth)), GOOD))
			.hasMessageContaining("TLS client authentication");
	}

	@Test
	void aClientWithAnotherNameIsRejectedWithTheReason() {
		Tls other = OURS.tls(OURS.issue(Duration.ofDays(1), List.of("a.test", "*.test")));
		assertThat(accepting(other, GOOD)).hasMessageContaining("a.test, *.test and not ranks.test")
			.extracting(TlsException::reason)
			.isEqualTo(Reason.UNTRUSTED);
		assertThat(new String(read(this.connected, 3), StandardCharsets.UTF_8)).isEqualTo("its");
	}

	@Test
	void aServerWithAnotherNameOrAuthorityIsNotTrusted() {
		Tls other = OURS.tls(OURS.issue(Duration.ofDays(1), List.of()));
		assertThat(accepting(GOOD, other)).isNull();
		assertThat(connecting()).isEqualTo(Reason.UNTRUSTED);
		Tls untrusted = new Tls(() -> OURS.context(THEIRS.rank()), List.of(), Authority.NAME);
		accepting(GOOD, untrusted);
		assertThat(connecting()).isEqualTo(Reason.UNTRUSTED);
	}

	@Test
	void aPeerWithoutTlsIsDetectedByItsFirstByte() throws Exception {
		try (Socket plain = new Socket(InetAddress.getLoopbackAddress(), this.listener.socket().getLocalPort());
				SocketChannel channel = accept()) {
			plain.getOutputStream().write("GET / HTTP/1.1\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
			assertThatThrownBy(() -> GOOD.accept(channel, deadline(), (problem) -> ByteBuffer.allocate(0)))
				.isInstanceOf(TlsException.class)
				.extracting((ex) -> ((TlsException) ex).reason())
				.isEqualTo(Reason.NOT_TLS);
		}
	}

	@Test
	void theHandshakeWithASilentPeerEndsAtTheDeadline() throws Exception {
		try (Socket silent = new Socket(InetAddress.getLoopbackAddress(), this.listener.socket().getLocalPort());
				SocketChannel channel = accept()) {
			assertThat(silent.isConnected()).isTrue();
			long start = System.nanoTime();
			assertThatThrownBy(() -> GOOD.connect(channel, () -> {
				if (System.nanoTime() - start > 200_000_000) {
					throw new IOException("enough");
				}
			})).hasMessage("enough");
		}
	}

	@Test
	void anUnknownCipherSuiteIsRejectedByTheConstructor() {
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new Tls(() -> OURS.context(OURS.rank()), List.of("TLS_NONSENSE"), Authority.NAME));
	}

	private SocketChannel accept() throws IOException {
		SocketChannel channel = this.listener.accept();
		channel.configureBlocking(false);
		return channel;
	}

	/** The accepting side's failure, {@code null} if it accepts the client. */
	private TlsException accepting(Tls client, Tls server) {
		this.dialed = dial(client);
		try {
			this.accepted = server.accept(accept(), deadline(),
					(problem) -> ByteBuffer.wrap(problem.getBytes(StandardCharsets.UTF_8)));
			return null;
		}
		catch (TlsException ex) {
			this.connected = join(this.dialed.exceptionally((told) -> null));
			return ex;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** The connecting side's failure, at the latest when it reads. */
	private Reason connecting() {
		try {
			read(this.dialed.get(20, TimeUnit.SECONDS), 1);
			throw new AssertionError("accepted");
		}
		catch (CompletionException | ExecutionException ex) {
			return ((TlsException) ex.getCause()).reason();
		}
		catch (UncheckedIOException ex) {
			return ((TlsException) ex.getCause()).reason();
		}
		catch (InterruptedException | TimeoutException ex) {
			throw new AssertionError(ex);
		}
	}

	private CompletableFuture<TlsChannel> dial(Tls client) {
		CompletableFuture<TlsChannel> result = new CompletableFuture<>();
		Thread.ofVirtual().start(() -> {
			try {
				SocketChannel channel = SocketChannel.open(this.listener.getLocalAddress());
				channel.configureBlocking(false);
				result.complete(client.connect(channel, deadline()));
			}
			catch (IOException ex) {
				result.completeExceptionally(ex);
			}
		});
		return result;
	}

	private void handshake(Tls client, Tls server) {
		assertThat(accepting(client, server)).isNull();
		this.connected = join(this.dialed);
	}

	private static TlsChannel join(CompletableFuture<TlsChannel> dialed) {
		return dialed.orTimeout(20, TimeUnit.SECONDS).join();
	}

	private void exchange(byte[] sent, int capacity) throws IOException {
		CompletableFuture<Void> writing = CompletableFuture.runAsync(() -> {
			try {
				ByteBuffer out = ByteBuffer.wrap(sent);
				while (out.hasRemaining()) {
					this.connected.write(out);
				}
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}, OwnThread.EXECUTOR);
		ByteBuffer got = ByteBuffer.allocate(sent.length);
		while (got.hasRemaining()) {
			ByteBuffer part = got.slice(got.position(), Math.min(capacity, got.remaining()));
			assertThat(this.accepted.read(part)).isNotNegative();
			got.position(got.position() + part.position());
		}
		assertThat(got.array()).isEqualTo(sent);
		writing.join();
	}

	private static byte[] read(TlsChannel channel, int count) {
		ByteBuffer in = ByteBuffer.allocate(count);
		long start = System.nanoTime();
		while (in.hasRemaining()) {
			try {
				if (channel.read(in) < 0 || System.nanoTime() - start > Duration.ofSeconds(20).toNanos()) {
					throw new AssertionError("only " + in.position() + " bytes arrived");
				}
			}
			catch (IOException ex) {
				throw new UncheckedIOException(ex);
			}
		}
		return in.array();
	}

	private static HandshakeDeadline deadline() {
		long start = System.nanoTime();
		return () -> {
			if (System.nanoTime() - start > Duration.ofSeconds(20).toNanos()) {
				throw new IOException("no answer");
			}
		};
	}

}
