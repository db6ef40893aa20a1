package io.tutti.engine.transport.tcp;

import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;

import io.tutti.engine.tls.PeerSocket;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

@Timeout(60)
class TcpStreamTest {

	private static final int BYTES = 1 << 20;

	private static final int LIMIT_MILLIS = 20_000;

	private final Arena arena = Arena.ofShared();

	private final MemorySegment memory = this.arena.allocate(BYTES);

	private Socket peer;

	private SocketChannel socket;

	private TcpStream stream;

	@BeforeEach
	void connect() throws IOException {
		try (ServerSocketChannel server = ServerSocketChannel.open()) {
			server.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
			this.socket = SocketChannel.open();
			this.socket.setOption(StandardSocketOptions.SO_SNDBUF, 1 << 20);
			this.socket.connect(server.getLocalAddress());
			this.peer = server.accept().socket();
		}
		this.socket.configureBlocking(false);
		this.stream = new TcpStream(new PeerSocket(this.socket));
	}

	@AfterEach
	void close() throws IOException {
		this.stream.close();
		this.peer.close();
		this.arena.close();
	}

	@Test
	void bytesCrossInBothDirections() throws IOException {
		this.memory.set(ValueLayout.JAVA_BYTE, 0, (byte) 42);
		assertThat(this.stream.write(this.memory.address(), 1)).isEqualTo(1);
		assertThat(this.peer.getInputStream().read()).isEqualTo(42);
		assertThat(this.stream.read(this.memory.address(), 1)).isZero();
		this.peer.getOutputStream().write(7);
		await().until(() -> this.stream.read(this.memory.address(), BYTES) == 1);
		assertThat(this.memory.get(ValueLayout.JAVA_BYTE, 0)).isEqualTo((byte) 7);
	}

	@Test
	void theEndOfThePeersOutputIsAnEndOfFile() throws IOException {
		this.peer.shutdownOutput();
		await().untilAsserted(() -> assertThatThrownBy(() -> this.stream.read(this.memory.address(), 1))
			.isInstanceOf(EOFException.class));
	}

	@Test
	void writtenBytesArriveWithUnreadInputAtTheClose() throws IOException {
		long written = writeWithInputLeftUnread();
		this.stream.closeAfterDelivery();
		assertThat(bytesUntilTheEnd()).isEqualTo(written);
	}

	@Test
	void writtenBytesArriveWithInputAfterTheClose() throws IOException {
		long written = writeWithInputLeftUnread();
		this.stream.closeAfterDelivery();
		this.peer.getOutputStream().write(new byte[1000]);
		assertThat(bytesUntilTheEnd()).isEqualTo(written);
	}

	@Test
	void aClosedStreamReleasesItsDescriptorWhileThePeerStaysConnected() throws IOException {
		this.stream.closeAfterDelivery();
		await().atMost(Duration.ofSeconds(20)).until(() -> !this.socket.isOpen());
	}

	/** A thread that sleeps on all connections would not sleep. */
	@Test
	void bytesThatNothingReadsEndNoSleep() throws IOException {
		try (Selector selector = Selector.open()) {
			this.stream.register(selector);
			this.stream.awaitProgress();
			this.peer.getOutputStream().write(7);
			assertThat(selector.select(LIMIT_MILLIS)).isEqualTo(1);
			selector.selectedKeys().clear();
			this.stream.endInput();
			this.stream.awaitProgress();
			assertThat(selector.selectNow()).isZero();
		}
	}

	private long writeWithInputLeftUnread() throws IOException {
		this.peer.getOutputStream().write(new byte[1000]);
		await().until(() -> this.socket.socket().getInputStream().available() == 1000);
		long written = 0;
		for (long now = 1; now > 0; written += now) {
			now = this.stream.write(this.memory.address(), BYTES);
		}
		return written;
	}

	private long bytesUntilTheEnd() throws IOException {
		long read = 0;
		byte[] bytes = new byte[BYTES];
		for (int now = 0; now >= 0; now = this.peer.getInputStream().read(bytes)) {
			read += now;
		}
		return read;
	}

}
