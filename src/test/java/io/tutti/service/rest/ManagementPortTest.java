package io.tutti.service.rest;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;

import io.tutti.FreePort;
import io.tutti.service.TuttiApplication;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.http.MediaType;
import org.springframework.test.context.DynamicPropertyRegistry;
import org.springframework.test.context.DynamicPropertySource;
import org.springframework.web.client.RestClient;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * An actuator on its own port, with a state-changing endpoint and without the health of
 * the group.
 */
@Timeout(60)
@SpringBootTest(classes = TuttiApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = { FormedRank.RANK, FormedRank.WORLD_SIZE, "tutti.security.token=open sesame", "tutti.http.port=0",
				"management.server.port=${test.port}", "tutti.health.enabled=false",
				"server.tomcat.connection-timeout=2s", "management.server.address=127.0.0.1",
				"management.endpoints.web.exposure.include=health,loggers" })
@Import(FormedRank.class)
class ManagementPortTest {

	private static final int LOCAL_RANK = 1;

	@Value("${local.management.port}")
	private int port;

	@Value("${test.port}")
	private int portOfTheHost;

	/** The ports after it are those of the other ranks. */
	@DynamicPropertySource
	static void freePort(DynamicPropertyRegistry registry) {
		int port = FreePort.next();
		registry.add("test.port", () -> port);
	}

	@Test
	void eachRankOfAHostHasItsOwnPort() {
		assertThat(this.port).isEqualTo(this.portOfTheHost + LOCAL_RANK);
	}

	@Test
	void aStateChangingRequestNeedsTheToken() {
		assertThat(setLevel(null)).isEqualTo(HttpStatus.UNAUTHORIZED);
		assertThat(setLevel("Bearer open sesam")).isEqualTo(HttpStatus.FORBIDDEN);
		assertThat(setLevel("Bearer open sesame")).isEqualTo(HttpStatus.NO_CONTENT);
	}

	@Test
	void requestsOfAnotherOriginOrHostAreRefused() throws Exception {
		String request = "POST /actuator/loggers/io.tutti.nothing HTTP/1.1\r\nAuthorization: Bearer open sesame\r\n"
				+ "Content-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n";
		assertThat(status(request + "Host: localhost\r\nOrigin: http://evil.example\r\n\r\n{}")).isEqualTo(403);
		assertThat(status(request + "Host: rebound.example\r\n\r\n{}")).isEqualTo(403);
		assertThat(status(request + "Host: localhost\r\n\r\n{}")).isEqualTo(204);
		String look = " HTTP/1.1\r\nConnection: close\r\nHost: rebound.example\r\n\r\n";
		assertThat(status("GET /actuator/loggers" + look)).isEqualTo(403);
		assertThat(status("GET /actuator/health/liveness" + look)).isEqualTo(200);
		assertThat(status("GET //actuator/health/liveness" + look)).isEqualTo(403);
	}

	@Test
	void aRequestThatTheWebServerRefusesGetsAProblem() throws Exception {
		RawHttp.Answer answer = send("GET /a|b HTTP/1.1\r\nConnection: close\r\nHost: localhost\r\n\r\n");
		assertThat(answer.status()).isEqualTo(400);
		assertThat(answer.header("Content-Type")).startsWith("application/problem+json");
		assertThat(answer.body()).contains("\"rank\":1");
	}

	private int status(String request) throws IOException {
		return send(request).status();
	}

	private RawHttp.Answer send(String request) throws IOException {
		return new RawHttp(this.port).send(request.getBytes(StandardCharsets.ISO_8859_1));
	}

	@Test
	void readsNeedNoToken() {
		HttpStatusCode status = client().get()
			.uri("/actuator/health/liveness")
			.exchange((request, response) -> response.getStatusCode());
		assertThat(status).isEqualTo(HttpStatus.OK);
	}

	@Test
	void aSlowHeaderTimesOut() throws Exception {
		try (Socket slow = new Socket(InetAddress.getLoopbackAddress(), this.port)) {
			slow.setSoTimeout(50);
			Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> isClosedAfterAByte(slow));
		}
	}

	private static boolean isClosedAfterAByte(Socket socket) throws IOException {
		try {
			socket.getOutputStream().write('G');
			return socket.getInputStream().read() < 0;
		}
		catch (SocketTimeoutException ex) {
			return false;
		}
		catch (SocketException ex) {
			return true;
		}
	}

	private HttpStatusCode setLevel(String authorization) {
		return client().post()
			.uri("/actuator/loggers/io.tutti.nothing")
			.contentType(MediaType.APPLICATION_JSON)
			.headers((headers) -> {
				if (authorization != null) {
					headers.set("Authorization", authorization);
				}
			})
			.body("{\"configuredLevel\":\"DEBUG\"}")
			.exchange((request, response) -> response.getStatusCode());
	}

	private RestClient client() {
		return RestClient.create("http://127.0.0.1:" + this.port);
	}

}
