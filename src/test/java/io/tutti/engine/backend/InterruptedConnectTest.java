package io.tutti.engine.backend;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.tutti.CollectiveListener;
import io.tutti.Failure;
import io.tutti.GroupAbortedException;
import io.tutti.engine.Timeouts;
import io.tutti.engine.algorithm.AlgorithmOverrides;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.control.PeerAddress;
import io.tutti.engine.control.SessionKey;
import io.tutti.engine.dispatch.DefaultProcessGroup;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.transport.tcp.DataListener;
import io.tutti.engine.transport.tcp.TcpSettings;
import io.tutti.engine.transport.tcp.TcpTransport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** An interrupt while the first connection to a peer is in its handshake. */
@Timeout(60)
class InterruptedConnectTest {

	private static final Duration LIMIT = Duration.ofSeconds(30);

	private static final GroupIdentity IDENTITY = GroupIdentity.world(1, 2, 0);

	private final FailureLatch latch = new FailureLatch();

	private final List<Failure> reports = new CopyOnWriteArrayList<>();

	@Test
	void theFailureNamesTheInterruptedRankAndNotItsPeer() throws Exception {
		InetAddress loopback = InetAddress.getLoopbackAddress();
		try (ServerSocket silent = new ServerSocket(0, 8, loopback);
				DataListener listener = DataListener.open(loopback, 0, 2);
				DefaultProcessGroup group = group(silent, listener)) {
			Thread caller = Thread.currentThread();
			Thread.ofPlatform().start(() -> interruptOnceConnected(silent, caller));
			assertThatThrownBy(group::barrier).isInstanceOf(GroupAbortedException.class)
				.hasMessageContaining("thread was interrupted");
			assertThat(Thread.interrupted()).isTrue();
			assertThat(this.reports).isNotEmpty().allSatisfy((failure) -> {
				assertThat(failure.kind()).isEqualTo(Failure.Kind.ABORTED);
				assertThat(failure.ranks()).containsExactly(1);
			});
		}
	}

	private DefaultProcessGroup group(ServerSocket peer, DataListener listener) throws IOException {
		List<PeerAddress> roster = List.of(
				new PeerAddress(0, peer.getInetAddress().getHostAddress(), peer.getLocalPort(), "host"),
				new PeerAddress(1, peer.getInetAddress().getHostAddress(), 0, "host"));
		TcpTransport transport = new TcpTransport(IDENTITY, this.latch, roster, listener,
				new SessionKey(new byte[] { 7 }), new TcpSettings("system", LIMIT, LIMIT, false, null),
				CollectiveListener.NONE);
		return new DefaultProcessGroup(IDENTITY, new TransportGroupBackend(Backends.TCP, IDENTITY, transport,
				ReductionKernels.get(), AlgorithmOverrides.NONE), this.latch, (failure) -> {
					this.reports.add(failure);
					this.latch.trip(failure);
				}, new Timeouts(LIMIT, LIMIT, LIMIT, LIMIT, LIMIT));
	}

	/** The peer accepts the connection and sends nothing. */
	private static void interruptOnceConnected(ServerSocket silent, Thread caller) {
		try (Socket connection = silent.accept()) {
			while (caller.getState() == Thread.State.NEW) {
				Thread.onSpinWait();
			}
			caller.interrupt();
			connection.getInputStream().read();
		}
		catch (IOException ex) {
			// Expected: the interrupt closes the connection.
		}
	}

}
