package io.tutti.engine.transport.tcp;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

import io.tutti.engine.bootstrap.Handshake;
import io.tutti.engine.bootstrap.HandshakeException;
import io.tutti.engine.control.ControlMessage.DataHello;
import io.tutti.engine.control.SessionKey;
import io.tutti.engine.tls.HandshakeDeadline;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(60)
class DataListenerTest {

	private static final Duration LIMIT = Duration.ofMillis(600);

	private static final int ROOM = 8;

	private static final DataHello HELLO = new DataHello("world", 0, 3, 0);

	private final SessionKey key = new SessionKey(new byte[] { 7 });

	private final DataListener listener = open();

	private final BlockingQueue<Integer> arrivals = new LinkedBlockingQueue<>();

	private DataListener open() {
		try {
			DataListener opened = DataListener.open(InetAddress.getLoopbackAddress(), 0, ROOM, LIMIT);
			opened.start(0, this.key, null);
			return opened;
		}
		catch (IOException ex) {
			throw new java.io.UncheckedIOException(ex);
		}
	}

	@AfterEach
	void close() {
		this.listener.close();
	}

	@Test
	void aRankThatProvesTheKeyIsAccepted() throws Exception {
		subscribe();
		try (SocketChannel channel = dial(this.key)) {
			assertThat(channel.isConnected()).isTrue();
			assertThat(this.arrivals.poll(10, TimeUnit.SECONDS)).isEqualTo(3);
		}
	}

	@Test
	void anotherKeyIsRefused() {
		assertThatThrownBy(() -> dial(new SessionKey(new byte[] { 8 }))).isInstanceOf(HandshakeException.class)
			.hasMessageContaining("the session key is wrong");
	}

	@Test
	void aSlowClientGetsNoMoreTimeThanASilentOne() throws Exception {
		long start = System.nanoTime();
		try (Socket slow = silentClient()) {
			OutputStream out = slow.getOutputStream();
			out.write(new byte[] { 0, 0, 0x0f });
			while (!closedByPeer(slow)) {
				out.write(' ');
			}
		}
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(LIMIT, LIMIT.plusSeconds(4));
	}

	private static boolean closedByPeer(Socket socket) {
		try {
			return socket.getInputStream().read() < 0;
		}
		catch (SocketTimeoutException ex) {
			return false;
		}
		catch (IOException ex) {
			return true;
		}
	}

	@Test
	void aClientThatClosesAfterAPartOfItsHelloFreesItsPlace() throws Exception {
		subscribe();
		for (int i = 0; i < 5 * ROOM; i++) {
			try (Socket partial = silentClient()) {
				partial.getOutputStream().write(new byte[] { 0, 0, 0, 40, 1 });
			}
		}
		try (SocketChannel channel = dial(this.key)) {
			assertThat(this.arrivals.poll(10, TimeUnit.SECONDS)).isEqualTo(3);
			assertThat(channel.isConnected()).isTrue();
		}
	}

	@Test
	void aConnectionToAnotherRankIsRefusedWithBothRanks() {
		assertThatThrownBy(() -> dial(this.key, new DataHello("world", 0, 3, 2))).isInstanceOf(HandshakeException.class)
			.hasMessageContaining("to rank 2 has reached rank 0");
	}

	@Test
	void silentClientsBeyondTheLimitDelayNoRankForLong() throws Exception {
		subscribe();
		List<Socket> silent = new ArrayList<>();
		for (int i = 0; i < 5 * ROOM; i++) {
			silent.add(silentClient());
		}
		try (SocketChannel channel = dial(this.key)) {
			assertThat(channel.isConnected()).isTrue();
			assertThat(this.arrivals.poll(10, TimeUnit.SECONDS)).isEqualTo(3);
		}
		for (Socket socket : silent) {
			socket.close();
		}
	}

	@Test
	void aConnectionToAClosedGroupIsClosed() throws Exception {
		this.listener.open("world", 0);
		this.listener.close("world", 0);
		try (SocketChannel channel = dial(this.key)) {
			channel.configureBlocking(true);
			channel.socket().setSoTimeout(10_000);
			assertThat(channel.socket().getInputStream().read()).isEqualTo(-1);
		}
	}

	@Test
	void closingAGroupClosesItsParkedConnections() throws Exception {
		this.listener.open("world", 0);
		CountDownLatch parked = new CountDownLatch(1);
		assertThat(this.listener.poll(HELLO, parked::countDown)).isNull();
		try (SocketChannel channel = dial(this.key)) {
			assertThat(parked.await(10, TimeUnit.SECONDS)).isTrue();
			this.listener.close("world", 0);
			channel.configureBlocking(true);
			channel.socket().setSoTimeout(10_000);
			assertThat(channel.socket().getInputStream().read()).isEqualTo(-1);
		}
	}

	@Test
	void aConnectionToAGroupThatIsNotOpenYetIsParked() throws Exception {
		CountDownLatch parked = new CountDownLatch(1);
		assertThat(this.listener.poll(HELLO, parked::countDown)).isNull();
		try (SocketChannel channel = dial(this.key)) {
			assertThat(channel.isConnected()).isTrue();
			assertThat(parked.await(10, TimeUnit.SECONDS)).isTrue();
			TcpStream stream = this.listener.poll(HELLO, () -> {
			});
			assertThat(stream).isNotNull();
			stream.close();
		}
	}

	@Test
	void aSecondConnectionOfTheSameHelloClosesTheFirst() throws Exception {
		CountDownLatch parked = new CountDownLatch(1);
		assertThat(this.listener.poll(HELLO, parked::countDown)).isNull();
		try (SocketChannel first = dial(this.key)) {
			assertThat(parked.await(10, TimeUnit.SECONDS)).isTrue();
			try (SocketChannel second = dial(this.key)) {
				assertThat(second.isConnected()).isTrue();
				first.configureBlocking(true);
				first.socket().setSoTimeout(10_000);
				assertThat(first.socket().getInputStream().read()).isEqualTo(-1);
			}
		}
	}

	private Socket silentClient() throws IOException {
		Socket socket = new Socket(InetAddress.getLoopbackAddress(), this.listener.port());
		socket.setSoTimeout(100);
		return socket;
	}

	private void subscribe() {
		this.listener.open("world", 0, (from, stream) -> {
			this.arrivals.add(from);
			stream.close();
		});
	}

	private SocketChannel dial(SessionKey with) throws IOException {
		return dial(with, HELLO);
	}

	private SocketChannel dial(SessionKey with, DataHello hello) throws IOException {
		return Handshake.ofData(with)
			.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), this.listener.port()), null,
					(local) -> hello, HandshakeDeadline.within(Duration.ofSeconds(20)))
			.socket();
	}

}
