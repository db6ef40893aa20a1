package io.tutti.service.http;

import java.io.File;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.apache.catalina.connector.Connector;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.startup.Tomcat;
import org.apache.catalina.valves.ValveBase;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(60)
class LimitedEndpointTest {

	private final Tomcat tomcat = new Tomcat();

	private final CountDownLatch serving = new CountDownLatch(1);

	private final CountDownLatch go = new CountDownLatch(1);

	@TempDir
	private Path folder;

	@BeforeEach
	void start() throws Exception {
		LimitedHttpProtocol protocol = new LimitedHttpProtocol();
		protocol.setMaxConnections(1);
		protocol.limitConnections();
		protocol.setAddress(InetAddress.getLoopbackAddress());
		Connector connector = new Connector(protocol);
		connector.setPort(0);
		this.tomcat.setBaseDir(this.folder.toString());
		this.tomcat.setConnector(connector);
		this.tomcat.addContext("", new File(".").getAbsolutePath()).getPipeline().addValve(new Waiting());
		this.tomcat.start();
	}

	@AfterEach
	void stop() throws Exception {
		this.go.countDown();
		this.tomcat.stop();
		this.tomcat.destroy();
	}

	@Test
	void aConnectionBeyondTheLimitIsClosedAtOnceIfEveryOtherServesARequest() throws Exception {
		try (Socket served = open()) {
			served.getOutputStream()
				.write("GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
					.getBytes(StandardCharsets.US_ASCII));
			assertThat(this.serving.await(20, TimeUnit.SECONDS)).isTrue();
			try (Socket refused = open()) {
				refused.setSoTimeout(5000);
				assertThat(refused.getInputStream().read()).isEqualTo(-1);
			}
			this.go.countDown();
			assertThat(new String(served.getInputStream().readAllBytes(), StandardCharsets.US_ASCII))
				.startsWith("HTTP/1.1 204");
		}
	}

	private Socket open() throws Exception {
		return new Socket(InetAddress.getLoopbackAddress(), this.tomcat.getConnector().getLocalPort());
	}

	private final class Waiting extends ValveBase {

		@Override
		public void invoke(Request request, Response response) {
			LimitedEndpointTest.this.serving.countDown();
			try {
				LimitedEndpointTest.this.go.await();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
			response.setStatus(204);
		}

	}

}
