package io.tutti.engine.control;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.time.Duration;

import io.tutti.engine.control.ControlMessage.ForwardedTrace;
import io.tutti.engine.tls.PeerSocket;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(30)
class ControlLoopTest {

	private final RecordedControlEvents events = new RecordedControlEvents();

	@Test
	void aPeerThatDoesNotReadIsReportedOnceItsBacklogIsFull() throws Exception {
		ForwardedTrace large = new ForwardedTrace(1, 1, new byte[8 << 20]);
		try (ServerSocketChannel server = ServerSocketChannel.open()
			.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
				SocketChannel peer = SocketChannel.open(server.getLocalAddress())) {
			SocketChannel accepted = server.accept();
			accepted.configureBlocking(false);
			ControlLoop loop = new ControlLoop("tutti-r0-control", new PeerTable(2, System::nanoTime), this.events,
					Duration.ofMinutes(1), new NoWork());
			loop.add(new ControlConnection(1, new PeerSocket(accepted)));
			loop.start();
			for (int i = 0; i < 12; i++) {
				loop.execute(() -> loop.send(1, large));
			}
			Awaitility.await().until(() -> !this.events.warnings.isEmpty());
			loop.execute(loop::stop);
			loop.join();
			assertThat(peer.isConnected()).isTrue();
		}
		assertThat(this.events.warnings).containsExactly("rank 1 does not read its control connection: more than 64 MiB"
				+ " wait for it. It receives nothing more. Check whether its process is stopped");
	}

	private static final class NoWork implements ControlLoop.Work {

		@Override
		public void receive(int peer, ControlMessage message) {
		}

		@Override
		public void disconnected(int peer, boolean ended, String detail) {
		}

		@Override
		public void silent(int peer, String detail) {
		}

		@Override
		public void ended() {
		}

	}

}
