package io.tutti.service.rest;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

import io.tutti.service.TuttiApplication;
import io.tutti.service.group.GroupLifecycle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalServerPort;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A client that reads the response of its collective slowly, but without a pause, on a
 * rank whose memory holds one call.
 */
@Timeout(60)
@SpringBootTest(classes = TuttiApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = { "tutti.rank=0", "tutti.world-size=1", "tutti.http-collectives.max-bytes=24MB",
				"tutti.http-collectives.memory=48MB", "tutti.timeout.collective=2s",
				"server.tomcat.connection-timeout=3s" })
class SlowReaderTest {

	private static final int BYTES = 24 << 20;

	/** The response would take half a minute. */
	private static final Duration PAUSE = Duration.ofMillis(4);

	@Autowired
	private GroupLifecycle group;

	@LocalServerPort
	private int port;

	@Test
	void itsMemoryIsFreeAfterTheTimeoutOfACollective() throws Exception {
		this.group.formed().orTimeout(30, TimeUnit.SECONDS).join();
		try (Socket slow = new Socket()) {
			slow.setReceiveBufferSize(64 << 10);
			slow.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), this.port));
			send(slow, BYTES);
			assertThat(slow.getInputStream().read()).as("the response has begun").isEqualTo('H');
			Thread.ofPlatform().daemon().start(() -> dribble(slow));
			try (Socket other = new RawHttp(this.port).open()) {
				send(other, BYTES);
				assertThat(RawHttp.read(other).status()).isEqualTo(200);
			}
		}
	}

	/** Reads until either side closes the connection. */
	private static void dribble(Socket slow) {
		try {
			while (slow.getInputStream().read(new byte[4096]) >= 0) {
				LockSupport.parkNanos(PAUSE.toNanos());
			}
		}
		catch (IOException ex) {
			// The connection is closed.
		}
	}

	private static void send(Socket socket, int bytes) throws Exception {
		socket.getOutputStream()
			.write(("POST /api/v1/collectives/all-reduce?timeoutMs=7000 HTTP/1.1\r\nHost: 127.0.0.1\r\n"
					+ "Connection: close\r\nContent-Type: application/octet-stream\r\nContent-Length: " + bytes
					+ "\r\n\r\n")
				.getBytes(StandardCharsets.US_ASCII));
		socket.getOutputStream().write(new byte[bytes]);
	}

}
