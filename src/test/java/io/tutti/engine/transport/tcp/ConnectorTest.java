package io.tutti.engine.transport.tcp;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.channels.ClosedByInterruptException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;

import io.tutti.CollectiveListener;
import io.tutti.engine.bootstrap.Endpoint.NameService;
import io.tutti.engine.control.PeerAddress;
import io.tutti.engine.control.SessionKey;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.LocalFaultException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.Timeout.ThreadMode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@Timeout(value = 20, threadMode = ThreadMode.SEPARATE_THREAD)
class ConnectorTest {

	private static final Duration LONG = Duration.ofMinutes(1);

	private static final Runnable NO_NOTICE = () -> {
	};

	private final CountDownLatch answer = new CountDownLatch(1);

	@Test
	void aCallThatGivesUpDoesNotWaitForTheNameService() throws Exception {
		Deadline deadline = Deadline.after(Duration.ofMillis(300));
		try (DataListener listener = listener()) {
			assertThatExceptionOfType(IllegalStateException.class)
				.isThrownBy(() -> connector("peer", listener, LONG, this::silent).connect(0, NO_NOTICE, () -> {
					if (deadline.expired()) {
						throw new IllegalStateException("the call has ended");
					}
				}));
		}
		finally {
			this.answer.countDown();
		}
	}

	@Test
	void anInterruptEndsTheWaitForTheNameService() throws Exception {
		Thread.currentThread().interrupt();
		try (DataListener listener = listener()) {
			assertThatExceptionOfType(ClosedByInterruptException.class)
				.isThrownBy(() -> connector("peer", listener, LONG, this::silent).connect(0, NO_NOTICE, NO_NOTICE));
			assertThat(Thread.interrupted()).isTrue();
		}
		finally {
			this.answer.countDown();
		}
	}

	@Test
	void theLimitToConnectIncludesTheNameService() throws Exception {
		try (DataListener listener = listener()) {
			assertThatExceptionOfType(LocalFaultException.class)
				.isThrownBy(() -> connector("peer", listener, Duration.ofMillis(200), this::silent).connect(0,
						NO_NOTICE, NO_NOTICE))
				.withMessageContaining("rank 1 cannot resolve the host name peer that rank 0 advertises");
		}
		finally {
			this.answer.countDown();
		}
	}

	@Test
	void anUnknownNameIsAFaultOfThisRank() throws Exception {
		try (DataListener listener = listener()) {
			assertThatExceptionOfType(LocalFaultException.class)
				.isThrownBy(() -> connector("peer", listener, LONG, (host) -> {
					throw new UnknownHostException(host);
				}).connect(0, NO_NOTICE, NO_NOTICE))
				.withMessageContaining("rank 1 cannot resolve the host name peer that rank 0 advertises");
		}
	}

	private InetAddress[] silent(String host) throws UnknownHostException {
		try {
			this.answer.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		throw new UnknownHostException(host);
	}

	private static DataListener listener() throws Exception {
		return DataListener.open(InetAddress.getLoopbackAddress(), 0, 2);
	}

	private static Connector connector(String peer, DataListener listener, Duration limit, NameService names) {
		return new Connector(GroupIdentity.world(1, 2, 0),
				List.of(new PeerAddress(0, peer, 7000, "host"),
						new PeerAddress(1, "127.0.0.1", listener.port(), "host")),
				listener, new SessionKey(new byte[] { 7 }),
				new TcpSettings(CongestionControl.SYSTEM, limit, Duration.ofSeconds(10), true, null),
				CollectiveListener.NONE, names);
	}

}
