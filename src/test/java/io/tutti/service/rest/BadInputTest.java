package io.tutti.service.rest;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;

import io.tutti.engine.control.BarrierOutcome;
import io.tutti.service.TuttiApplication;
import io.tutti.service.group.FakeGroup;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Invalid requests of every kind, generated from the OpenAPI description: each is refused
 * with a problem, and none does harm.
 */
@Order(5)
@Timeout(120)
@ResourceLock(DescribedRank.LOCK)
@SpringBootTest(classes = TuttiApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = { FormedRank.RANK, FormedRank.WORLD_SIZE, DescribedRank.TOKEN_PROPERTY, DescribedRank.SMALL_BODIES,
				"server.http2.enabled=true" })
@Import({ FormedRank.class, DescribedRank.class })
class BadInputTest {

	private static final int FLOOD = 100;

	@Autowired
	private FakeGroup group;

	@LocalServerPort
	private int port;

	private int abortsBefore;

	@BeforeEach
	void refuseEveryCallThatGetsThrough() {
		this.abortsBefore = this.group.aborts().size();
		this.group.onBarrier((label, timeout) -> {
			throw new AssertionError("a wrong request was carried out");
		});
	}

	@AfterEach
	void theGroupIsReadyAndAnswers() throws Exception {
		this.group.onBarrier((label, timeout) -> new BarrierOutcome(BarrierOutcome.Result.PASSED, label, 0, 3, 0,
				List.of(0L, 0L, 0L), List.of()));
		assertThat(this.group.aborts()).hasSize(this.abortsBefore);
		assertThat(http().send(BadRequests.get("/api/v1/group")).body()).contains("\"READY\"");
		assertThat(
				http().send(BadRequests.post("/api/v1/barrier", "{\"label\":\"x\"}".getBytes(StandardCharsets.UTF_8)))
					.status())
			.isEqualTo(200);
	}

	@TestFactory
	Stream<DynamicTest> everyWrongRequestIsRefusedByAProblem() throws Exception {
		List<DescribedRank.Described> operations = DescribedRank.operations(this.port);
		assertThat(operations).isNotEmpty();
		return operations.stream()
			.map((operation) -> DynamicTest.dynamicTest(operation.toString(), () -> refuseAll(operation)));
	}

	private void refuseAll(DescribedRank.Described operation) throws Exception {
		List<BadRequests.Bad> all = BadRequests.of(operation);
		assertThat(all).hasSizeGreaterThan(15);
		for (BadRequests.Bad bad : all) {
			RawHttp.Answer answer = http().send(bad.request());
			assertThat(answer.status()).as("%s: %s: %s", operation, bad.name(), answer.body()).isBetween(400, 499);
			assertProblem(operation + ": " + bad.name(), answer);
		}
	}

	private static void assertProblem(String what, RawHttp.Answer answer) {
		assertThat(answer.header("Content-Type")).as(what).startsWith("application/problem+json");
		assertThat(answer.body()).as(what)
			.doesNotContain("\tat ", "Exception", "java.", "org.", "io.tutti", "`", "Feature");
		JsonNode problem = JsonMapper.shared().readTree(answer.body());
		assertThat(problem.path("status").asInt()).as(what).isEqualTo(answer.status());
		assertThat(problem.path("type").asString()).as(what).startsWith("urn:tutti:problem:");
		assertThat(problem.path("title").asString()).as(what).isNotBlank();
		assertThat(problem.path("detail").asString()).as(what).isNotBlank();
		assertThat(problem.path("hint").asString()).as(what).isNotBlank();
		assertThat(problem.path("rank").asInt(-1)).as(what).isEqualTo(1);
		assertThat(problem.path("worldSize").asInt(-1)).as(what).isEqualTo(3);
	}

	@Test
	void aSlowBodyTimesOutAndAFloodOfThemDelaysNoProbe() throws Exception {
		List<Socket> slow = new ArrayList<>();
		try {
			byte[] request = BadRequests.post("/api/v1/barrier", new byte[0]);
			byte[] head = new String(request, StandardCharsets.US_ASCII)
				.replace("Content-Length: 0", "Content-Length: 60000")
				.getBytes(StandardCharsets.US_ASCII);
			for (int caller = 0; caller < FLOOD; caller++) {
				Socket socket = http().open();
				slow.add(socket);
				socket.getOutputStream().write(head);
			}
			long started = System.nanoTime();
			assertThat(http().send(BadRequests.get("/actuator/health/liveness")).status()).isEqualTo(200);
			assertThat(http().send(BadRequests.get("/actuator/health/readiness")).status()).isEqualTo(200);
			assertThat(System.nanoTime() - started).as("ns for two probes").isLessThan(TimeUnit.SECONDS.toNanos(5));
			dribble(slow.getFirst());
			slow.getFirst().getOutputStream().write("more".getBytes(StandardCharsets.US_ASCII));
			RawHttp.Answer answer = RawHttp.read(slow.getFirst());
			assertThat(answer.status()).isEqualTo(408);
			assertProblem("a body that dribbles", answer);
		}
		finally {
			for (Socket socket : slow) {
				socket.close();
			}
		}
	}

	/** HTTP/2 announces neither the length of such a body nor that there is one. */
	@Test
	void aSlowBodyTimesOutOverHttp2() throws Exception {
		// Tomcat itself ends a connection of smaller frames.
		byte[] part = " ".repeat(2048).getBytes(StandardCharsets.US_ASCII);
		URI rank = URI.create("http://127.0.0.1:" + this.port);
		try (PipedOutputStream body = new PipedOutputStream();
				PipedInputStream sent = new PipedInputStream(body, 2 * part.length);
				HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_2).build()) {
			HttpRequest first = HttpRequest.newBuilder(rank.resolve("/api/v1/group")).build();
			assertThat(client.send(first, HttpResponse.BodyHandlers.ofString()).version())
				.isEqualTo(HttpClient.Version.HTTP_2);
			CompletableFuture<HttpResponse<String>> answer = client
				.sendAsync(HttpRequest.newBuilder(rank.resolve("/api/v1/barrier"))
					.header("Content-Type", "application/json")
					.header("Authorization", "Bearer " + DescribedRank.TOKEN)
					.POST(HttpRequest.BodyPublishers.ofInputStream(() -> sent))
					.build(), HttpResponse.BodyHandlers.ofString());
			Thread.ofVirtual().start(() -> writeSlowly(part, body, answer));
			assertThat(answer.get(30, TimeUnit.SECONDS).statusCode()).isEqualTo(408);
		}
	}

	private static void writeSlowly(byte[] part, OutputStream body, Future<?> answer) {
		try {
			while (!answer.isDone()) {
				body.write(part);
				body.flush();
				LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(200));
			}
		}
		catch (IOException ex) {
			// The client has closed its side.
		}
	}

	/** Spring takes a missing type for a stream of bytes. */
	@ParameterizedTest
	@ValueSource(strings = { "", "Content-Type: Application/Octet-Stream\r\n" })
	void theTimeForElementsIsThatOfTheirCall(String type) throws Exception {
		this.group.onMatch((label, call) -> {
			throw new UnsupportedOperationException("the call is accepted");
		});
		String request = new String(BadRequests.post("/api/v1/collectives/all-reduce", new byte[0]),
				StandardCharsets.US_ASCII)
			.replace("Content-Length: 0", "Content-Length: 100")
			.replace("Content-Type: application/json\r\n", type);
		try (Socket socket = http().open()) {
			socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
			for (int sent = 0; sent < 100; sent++) {
				socket.getOutputStream().write(' ');
				LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
			}
			assertThat(RawHttp.read(socket).status()).isEqualTo(501);
		}
	}

	/** The web server would read a form itself, with a limit for each byte only. */
	@Test
	void aSlowFormIsNotRead() throws Exception {
		String request = new String(BadRequests.post("/api/v1/flight-recorder", new byte[0]), StandardCharsets.US_ASCII)
			.replace("Content-Length: 0", "Content-Length: 60000")
			.replace("application/json", "application/x-www-form-urlencoded");
		try (Socket socket = http().open()) {
			socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
			dribble(socket);
			RawHttp.Answer answer = RawHttp.read(socket);
			assertThat(answer.status()).isEqualTo(405);
			assertProblem("a form that dribbles", answer);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "/api/v1/barrier", "/api/v1/collectives/all-reduce?dtype=float32&op=sum" })
	void anIncompleteBodyTimesOut(String path) throws Exception {
		String type = path.contains("collectives") ? "application/octet-stream" : "application/json";
		String request = new String(BadRequests.post(path, new byte[0]), StandardCharsets.US_ASCII)
			.replace("Content-Length: 0", "Content-Length: 600")
			.replaceAll("(?i)content-type: [^\r]*", "Content-Type: " + type);
		try (Socket socket = http().open()) {
			socket.getOutputStream().write((request + "{\"label\":").getBytes(StandardCharsets.US_ASCII));
			RawHttp.Answer answer = RawHttp.read(socket);
			assertThat(answer.status()).isEqualTo(408);
			assertProblem("a body without an end", answer);
			assertThat(answer.body()).contains("\"detail\":\"the body did not arrive in time\"",
					"\"instance\":\"" + path.replaceFirst("\\?.*", "") + "\"");
		}
	}

	/**
	 * A client would take a second response for part of the first, or for the next one.
	 */
	@ParameterizedTest
	@CsvSource({ "GET,/api/v1/group,200", "GET,/api/v1/group?x=1,422", "POST,/api/v1/barrier,401",
			"GET,/api/v1/nothing,404" })
	void aRequestWithAnIncompleteBodyGetsOneCompleteResponse(String method, String path, int status) throws Exception {
		byte[] request = (method + " " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
				+ "Content-Length: 600\r\n\r\n")
			.getBytes(StandardCharsets.US_ASCII);
		try (Socket socket = http().open()) {
			socket.getOutputStream().write(request);
			String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
			assertThat(answer).startsWith("HTTP/1.1 " + status).containsOnlyOnce("HTTP/1.1");
			assertThat(answer.split("\r\n\r\n", 2)[1]).containsPattern("(?s)^([0-9a-f]+\r\n)?\\{")
				.doesNotContain("}{")
				.doesNotContainPattern("\\}\r\n[0-9a-f]{2,}\r\n\\{");
			assertThat(answer).matches("(?si).*(content-length: \\d+\r\n.*|\r\n0\r\n\r\n)");
		}
	}

	@ParameterizedTest
	@CsvSource({ "HTTP/1.1,HTTP/3.0,505,HTTP/1.1",
			"Connection:,Transfer-Encoding: frob\\r\\nConnection:,501,transfer coding",
			"GET /api/v1/group,CONNECT localhost:80,501,method", "/api/v1/group,/a|b,400,request line",
			"Host: localhost,Host: localhost\\r\\nHost: localhost,400,a header is malformed" })
	void aRequestThatTheWebServerRefusesSaysWhatIsWrong(String part, String wrong, int status, String expected)
			throws Exception {
		RawHttp.Answer answer = http().send(new String(BadRequests.get("/api/v1/group"), StandardCharsets.US_ASCII)
			.replace(part, wrong.translateEscapes())
			.getBytes(StandardCharsets.US_ASCII));
		assertThat(answer.status()).isEqualTo(status);
		assertProblem(wrong, answer);
		assertThat(JsonMapper.shared().readTree(answer.body()).path("detail").asString()).contains(expected);
	}

	@Test
	void aRefusedBodyNamesTheTypeAndSizeThatAreAccepted() throws Exception {
		String form = new String(BadRequests.post("/api/v1/collectives/all-reduce", new byte[4]),
				StandardCharsets.ISO_8859_1)
			.replace("application/json", "application/x-www-form-urlencoded");
		assertThat(http().send(form.getBytes(StandardCharsets.ISO_8859_1)).body())
			.contains("application/x-www-form-urlencoded", "supported: application/octet-stream");
		String unknown = form.replace("application/x-www-form-urlencoded", "application/json;charset=frob");
		assertThat(http().send(unknown.getBytes(StandardCharsets.ISO_8859_1)).body())
			.contains("Content-Type application/json;charset=frob is not supported");
		String large = "{\"label\":\"" + "x".repeat(100_000) + "\"}";
		assertThat(http().send(BadRequests.post("/api/v1/barrier", large.getBytes(StandardCharsets.US_ASCII))).body())
			.contains("65536 bytes");
	}

	@Test
	void aSecondOriginIsChecked() throws Exception {
		String request = new String(BadRequests.post("/api/v1/control/abort", "{}".getBytes(StandardCharsets.US_ASCII)),
				StandardCharsets.US_ASCII)
			.replace("Connection:", "Origin: http://localhost\r\nOrigin: http://other.example\r\nConnection:");
		RawHttp.Answer answer = http().send(request.getBytes(StandardCharsets.US_ASCII));
		assertThat(answer.status()).isEqualTo(403);
		assertProblem("two origins", answer);
	}

	/** Sends a byte every 20 ms until the server answers. */
	private static void dribble(Socket socket) throws Exception {
		long limit = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
		InputStream in = socket.getInputStream();
		while (System.nanoTime() < limit && in.available() == 0) {
			socket.getOutputStream().write(' ');
			LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
		}
		assertThat(in.available()).as("bytes of an answer").isPositive();
	}

	private RawHttp http() {
		return new RawHttp(this.port);
	}

}
