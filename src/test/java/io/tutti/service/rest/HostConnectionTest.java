package io.tutti.service.rest;

import java.io.InputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.tutti.Collective;
import io.tutti.DataType;
import io.tutti.ReduceOp;
import io.tutti.engine.backend.IdleBackend;
import io.tutti.engine.control.BarrierOutcome;
import io.tutti.engine.control.ControlPlane;
import io.tutti.engine.control.RecordedControlEvents;
import io.tutti.engine.control.RoundWait;
import io.tutti.engine.control.simulated.SimulatedControl;
import io.tutti.engine.spi.CallSignature;
import io.tutti.service.group.FakeGroup;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Clients of an application that has this library on its class path, in its own Tomcat.
 * It is rank 1 of three.
 */
@Timeout(120)
@SpringBootTest(classes = HostConnectionTest.Host.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = { FormedRank.RANK, FormedRank.WORLD_SIZE, "tutti.security.anonymous=true",
				"server.http2.enabled=true", "tutti.http-collectives.max-bytes=1KB",
				"tutti.http-collectives.memory=2KB" })
@Import(FormedRank.class)
class HostConnectionTest {

	private static final Duration LONG = Duration.ofSeconds(60);

	@SpringBootConfiguration(proxyBeanMethods = false)
	@EnableAutoConfiguration
	static class Host {

	}

	@Autowired
	private FakeGroup group;

	@LocalServerPort
	private int port;

	private final List<ControlPlane> ranks = new ArrayList<>();

	@BeforeEach
	void joinRanks() {
		SimulatedControl world = new SimulatedControl(3);
		for (int rank = 0; rank < 3; rank++) {
			this.ranks.add(world.join(rank, new RecordedControlEvents()));
		}
		this.group.onControl(this.ranks.get(1));
	}

	@AfterEach
	void leave() {
		this.ranks.forEach(ControlPlane::close);
	}

	@Test
	void anAbandonedCallIsNotCountedAndTheNextTakesItsPlace() throws Exception {
		byte[] request = BadRequests.post("/api/v1/barrier",
				"{\"label\":\"ghost\"}".getBytes(StandardCharsets.US_ASCII));
		try (Socket ghost = new RawHttp(this.port).open()) {
			ghost.getOutputStream().write(request);
			Awaitility.await().atMost(LONG).until(() -> this.group.waits() > 0);
		}
		CompletableFuture<BarrierOutcome> zero = barrier(0, RoundWait.next("ghost", LONG));
		CompletableFuture<BarrierOutcome> two = barrier(2, RoundWait.next("ghost", LONG));
		RawHttp.Answer answer = new RawHttp(this.port).send(request);
		assertThat(answer.status()).as(answer.body()).isEqualTo(200);
		assertThat(answer.body()).contains("\"round\":0", "\"arrived\":3");
		assertThat(zero.get(LONG.toSeconds(), TimeUnit.SECONDS).round()).isZero();
		assertThat(two.get(LONG.toSeconds(), TimeUnit.SECONDS).round()).isZero();
	}

	/** Tomcat reads the query string of the second one to select its method. */
	@ParameterizedTest
	@ValueSource(strings = { "/api/v1/group", "/api/v1/flight-recorder" })
	void aMalformedQueryIsRefused(String path) throws Exception {
		RawHttp.Answer answer = new RawHttp(this.port).send(BadRequests.get(path + "?x=%zz"));
		assertThat(answer.status()).as(answer.body()).isEqualTo(400);
		assertThat(answer.body()).contains("the query string is malformed");
	}

	/** A stream of HTTP/2 is no connection that could be probed. */
	@Test
	void overHttp2ACallNamesItsRound() throws Exception {
		try (HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_2).build()) {
			for (int read = 0; read < 6; read++) {
				assertThat(send(client, get("/api/v1/flight-recorder")).statusCode()).isEqualTo(200);
			}
			HttpResponse<String> unnamed = send(client, barrier("{\"label\":\"h2\"}"));
			assertThat(unnamed.version()).isEqualTo(HttpClient.Version.HTTP_2);
			assertThat(unnamed.statusCode()).isEqualTo(422);
			assertThat(unnamed.body()).contains("over HTTP/2 a call must name its round");
			barrier(0, new RoundWait("h2", 0, LONG, null));
			barrier(2, new RoundWait("h2", 0, LONG, null));
			assertThat(send(client, barrier("{\"label\":\"h2\",\"round\":0}")).statusCode()).isEqualTo(200);
		}
	}

	/** HTTP/2 announces neither the length of such a body nor that there is one. */
	@Test
	void overHttp2AStreamedBodyReservesMemory() throws Exception {
		this.group.onBeside(new IdleBackend("tcp"));
		try (HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_2).build()) {
			assertThat(send(client, get("/api/v1/group")).version()).isEqualTo(HttpClient.Version.HTTP_2);
			HttpRequest other = allReduce("label=other&round=0&timeoutMs=100",
					HttpRequest.BodyPublishers.ofString("abcd"));
			CompletableFuture<HttpResponse<String>> streamed;
			try (PipedOutputStream body = new PipedOutputStream()) {
				InputStream sent = new PipedInputStream(body);
				streamed = client.sendAsync(
						allReduce("label=streamed&round=0", HttpRequest.BodyPublishers.ofInputStream(() -> sent)),
						HttpResponse.BodyHandlers.ofString());
				Awaitility.await().atMost(LONG).untilAsserted(() -> {
					HttpResponse<String> refused = send(client, other);
					assertThat(refused.statusCode()).as(refused.body()).isEqualTo(503);
				});
				body.write("abcd".getBytes(StandardCharsets.US_ASCII));
			}
			match(0, "streamed");
			match(2, "streamed");
			HttpResponse<String> answer = streamed.get(LONG.toSeconds(), TimeUnit.SECONDS);
			assertThat(answer.body()).isEqualTo("abcd");
			assertThat(answer.version()).isEqualTo(HttpClient.Version.HTTP_2);
		}
	}

	private void match(int rank, String label) {
		CallSignature call = new CallSignature(0, Collective.ALL_REDUCE, 1, 0, DataType.FLOAT32, ReduceOp.SUM, 0);
		Thread.ofVirtual().start(() -> this.ranks.get(rank).match(new RoundWait(label, 0, LONG, null), call));
	}

	private CompletableFuture<BarrierOutcome> barrier(int rank, RoundWait wait) {
		return CompletableFuture.supplyAsync(() -> this.ranks.get(rank).barrier(wait),
				(run) -> Thread.ofVirtual().start(run));
	}

	private HttpRequest barrier(String body) {
		return request("/api/v1/barrier").header("Content-Type", "application/json")
			.POST(HttpRequest.BodyPublishers.ofString(body))
			.build();
	}

	private HttpRequest allReduce(String query, HttpRequest.BodyPublisher body) {
		return request("/api/v1/collectives/all-reduce?" + query).header("Content-Type", "application/octet-stream")
			.POST(body)
			.build();
	}

	private HttpRequest get(String path) {
		return request(path).build();
	}

	private HttpRequest.Builder request(String path) {
		return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + this.port + path));
	}

	private static HttpResponse<String> send(HttpClient client, HttpRequest request) throws Exception {
		return client.send(request, HttpResponse.BodyHandlers.ofString());
	}

}
