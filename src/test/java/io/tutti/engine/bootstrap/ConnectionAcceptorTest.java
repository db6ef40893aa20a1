package io.tutti.engine.bootstrap;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.net.SocketTimeoutException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.tutti.FreePort;
import io.tutti.engine.control.ControlMessage.DataHello;
import io.tutti.engine.control.ControlMessage.Hello;
import io.tutti.engine.control.SessionKey;
import io.tutti.engine.tls.HandshakeDeadline;
import io.tutti.engine.tls.PeerSocket;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(60)
class ConnectionAcceptorTest {

	private static final int ROUNDS = 50;

	/** Without connections nothing is authenticated. */
	private static final ConnectionAcceptor.Port<Hello> NO_CLIENTS = (PeerSocket socket,
			Handshake.Verified<Hello> client) -> socket.close();

	/** Of a process that another test starts the port may stay in use for an instant. */
	@Test
	void thePortIsFreeWhenTheAcceptorIsClosed() throws Exception {
		InetSocketAddress address = new InetSocketAddress("127.0.0.1", FreePort.next());
		for (int round = 0; round < ROUNDS; round++) {
			ServerSocketChannel server = ConnectionAcceptor.listen(address, 1);
			ConnectionAcceptor acceptor = new ConnectionAcceptor(server, 1, ConnectionAcceptor.HANDSHAKE_LIMIT);
			acceptor.start("accept-" + round, null, Handshake.ofControl(null), NO_CLIENTS);
			Thread.yield();
			acceptor.close();
		}
	}

	/** As where a process that was just started still has the port. */
	@Test
	void aPortIsWaitedForThatSoonIsFree() throws Exception {
		ServerSocketChannel other = ServerSocketChannel.open().bind(new InetSocketAddress("127.0.0.1", 0));
		InetSocketAddress address = (InetSocketAddress) other.getLocalAddress();
		CompletableFuture.delayedExecutor(200, TimeUnit.MILLISECONDS).execute(() -> close(other));
		try (ServerSocketChannel server = ConnectionAcceptor.listen(address, 1)) {
			assertThat(server.getLocalAddress()).isEqualTo(address);
		}
	}

	private static void close(ServerSocketChannel socket) {
		try {
			socket.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Test
	void aPortInUseAndAForeignAddressAreReported() throws Exception {
		try (ServerSocketChannel other = ServerSocketChannel.open().bind(new InetSocketAddress("127.0.0.1", 0))) {
			InetSocketAddress address = (InetSocketAddress) other.getLocalAddress();
			assertThatThrownBy(() -> ConnectionAcceptor.listen(address, 1)).isInstanceOf(BindException.class);
		}
		assertThatThrownBy(() -> ConnectionAcceptor.listen(new InetSocketAddress("192.0.2.1", 0), 1))
			.isInstanceOf(BindException.class);
	}

	/** The time limit of a handshake is out of reach. */
	@Test
	void theOldestSilentClientIsDisconnectedWhenThereIsNoRoomForAnother() throws Exception {
		ServerSocketChannel server = ServerSocketChannel.open().bind(new InetSocketAddress("127.0.0.1", 0));
		try (ConnectionAcceptor acceptor = new ConnectionAcceptor(server, 2, Duration.ofSeconds(60))) {
			acceptor.start("accept-silent", null, Handshake.ofControl(null), NO_CLIENTS);
			try (RawRank first = new RawRank(acceptor.port());
					RawRank _ = new RawRank(acceptor.port());
					RawRank _ = new RawRank(acceptor.port())) {
				assertThat(first.isHungUpOn()).isTrue();
			}
		}
	}

	/** A handler of uncaught exceptions may end the process. */
	@Test
	void anErrorEndsNeitherTheAcceptorNorTheProcess() throws Exception {
		ServerSocketChannel server = ServerSocketChannel.open().bind(new InetSocketAddress("127.0.0.1", 0));
		List<Throwable> reported = new CopyOnWriteArrayList<>();
		Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
		Thread.setDefaultUncaughtExceptionHandler((_, ex) -> reported.add(ex));
		try (ConnectionAcceptor acceptor = new ConnectionAcceptor(new OutOfThreads(server, 2), 2,
				Duration.ofSeconds(60))) {
			CountDownLatch served = new CountDownLatch(1);
			SessionKey key = new SessionKey(new byte[] { 7 });
			acceptor.start("accept-after-error", null, Handshake.ofData(key), (socket, _) -> {
				served.countDown();
				socket.close();
			});
			InetSocketAddress address = new InetSocketAddress("127.0.0.1", acceptor.port());
			assertThatThrownBy(() -> Handshake.ofData(key)
				.connect(address, null, (_) -> new DataHello("group", 0, 1, 0),
						HandshakeDeadline.within(Duration.ofSeconds(20))))
				.isInstanceOf(IOException.class);
			assertThat(served.await(20, TimeUnit.SECONDS)).isTrue();
			assertThat(reported).isEmpty();
		}
		finally {
			Thread.setDefaultUncaughtExceptionHandler(before);
		}
	}

	/** There is room for one client. */
	@Test
	void anErrorDuringAHandshakeEndsTheConnectionAndFreesItsPlace() throws Exception {
		ServerSocketChannel server = ServerSocketChannel.open().bind(new InetSocketAddress("127.0.0.1", 0));
		List<Throwable> reported = new CopyOnWriteArrayList<>();
		Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
		Thread.setDefaultUncaughtExceptionHandler((_, ex) -> reported.add(ex));
		try (ConnectionAcceptor acceptor = new ConnectionAcceptor(server, 1, Duration.ofSeconds(60))) {
			SessionKey key = new SessionKey(new byte[] { 7 });
			acceptor.start("accept-error", null, Handshake.ofData(key), (_, _) -> {
				throw new NoClassDefFoundError("a test");
			});
			InetSocketAddress address = new InetSocketAddress("127.0.0.1", acceptor.port());
			for (int client = 0; client < 2; client++) {
				assertThatThrownBy(() -> Handshake.ofData(key)
					.connect(address, null, (_) -> new DataHello("group", 0, 1, 0),
							HandshakeDeadline.within(Duration.ofSeconds(10))))
					.isInstanceOf(IOException.class)
					.isNotInstanceOf(SocketTimeoutException.class);
			}
			assertThat(reported).isEmpty();
		}
		finally {
			Thread.setDefaultUncaughtExceptionHandler(before);
		}
	}

	/** A port whose first clients wait while the process has no thread for them. */
	private static final class OutOfThreads extends ServerSocketChannel {

		private final ServerSocketChannel port;

		private int failures;

		OutOfThreads(ServerSocketChannel port, int failures) {
			super(port.provider());
			this.port = port;
			this.failures = failures;
		}

		@Override
		public SocketChannel accept() throws IOException {
			if (this.failures > 0) {
				this.failures--;
				throw new OutOfMemoryError("unable to create native thread");
			}
			return this.port.accept();
		}

		@Override
		public ServerSocketChannel bind(SocketAddress local, int backlog) throws IOException {
			return this.port.bind(local, backlog);
		}

		@Override
		public <T> ServerSocketChannel setOption(SocketOption<T> name, T value) throws IOException {
			return this.port.setOption(name, value);
		}

		@Override
		public <T> T getOption(SocketOption<T> name) throws IOException {
			return this.port.getOption(name);
		}

		@Override
		public Set<SocketOption<?>> supportedOptions() {
			return this.port.supportedOptions();
		}

		@Override
		public ServerSocket socket() {
			return this.port.socket();
		}

		@Override
		public SocketAddress getLocalAddress() throws IOException {
			return this.port.getLocalAddress();
		}

		@Override
		protected void implCloseSelectableChannel() throws IOException {
			this.port.close();
		}

		@Override
		protected void implConfigureBlocking(boolean block) throws IOException {
			this.port.configureBlocking(block);
		}

	}

}
