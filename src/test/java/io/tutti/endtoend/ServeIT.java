package io.tutti.endtoend;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import io.tutti.FreePort;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Real serving ranks, as local client processes and an operator use them.
 */
@Order(3)
@Timeout(240)
class ServeIT {

	private static final Duration LIMIT = Duration.ofSeconds(90);

	private final HttpClient client = HttpClient.newHttpClient();

	@TempDir
	Path directory;

	@Test
	void threeRanksServeMeetAtBarriersAndAnswerTheCallsUnderWayAtSigterm() throws Exception {
		int port = FreePort.next();
		try (TuttiProcess launch = TuttiProcess.start(this.directory, "launch", "-n", "3", "--http-port", "" + port,
				"serve")) {
			awaitReady(port, 3);
			for (int rank = 0; rank < 3; rank++) {
				JsonNode group = json(get(port + rank, "/api/v1/group"));
				assertThat(group.get("state").asString()).isEqualTo("READY");
				assertThat(group.get("rank").asInt()).isEqualTo(rank);
				assertThat(group.get("worldSize").asInt()).isEqualTo(3);
				assertThat(json(get(port + rank, "/api/v1/group/peers"))).hasSize(2);
			}
			assertThat(get(port, "/no/such/path").statusCode()).isEqualTo(404);
			assertThat(json(get(port, "/v3/api-docs")).has("paths")).isTrue();
			// Ranks that start slowly are reported by those that wait.
			assertThat(launch.output()).doesNotContainPattern("WARN(?!.*the deadline is in)");
			passABarrier(port);
			breakABarrier(port);
			callCollectives(port);
			abandonACollective(port);
			stopWithCallsUnderWay(port, launch);
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 0 })
	void ranksThatServeContinueWithoutAKilledRankAndWithItsReplacement(int lost) throws Exception {
		int port = FreePort.next();
		try (TuttiProcess launch = TuttiProcess.start(this.directory, "launch", "-n", "3", "--min-ranks", "2",
				"--max-restarts", "1", "--http-port", "" + port, "serve")) {
			awaitReady(port, 3);
			assertThat(collective(port, "all-reduce?label=a&round=5", floats(1), floats(2), floats(4)))
				.allSatisfy((answer) -> assertThat(answer.body()).isEqualTo(floats(7)));
			CompletableFuture<HttpResponse<String>> waiting = barrier(port + 2,
					"{\"label\":\"never\",\"timeoutMs\":80000}");
			awaitPost(port + 2);
			TuttiProcess.signal(launch.rank(lost, LIMIT), "KILL");
			assertThat(waiting.join().statusCode()).isEqualTo(503);
			assertThat(waiting.join().body()).contains("peer-lost");
			assertThat(waiting.join().headers().firstValue("Retry-After")).isPresent();
			awaitWhole(port, 2);
			JsonNode elastic = json(get(port + 2, "/api/v1/group")).get("elastic");
			assertThat(elastic.get("losses").get(0).get("ranks").get(0).asInt()).isEqualTo(lost);
			assertThat(elastic.get("losses").get(0).get("recoveryMs").asLong()).isNotNegative();
			assertThat(elastic.get("awaitedRanks")).isEmpty();
			for (int rank = 0; rank < 3; rank++) {
				awaitWhole(port, rank);
			}
			assertThat(collective(port, "all-reduce?label=a&round=0", floats(1), floats(2), floats(8)))
				.allSatisfy((answer) -> assertThat(answer.body()).isEqualTo(floats(11)));
			JsonNode earlier = json(get(port + 2, "/api/v1/flight-recorder?generation=0"));
			assertThat(earlier.get("generation").asInt()).isZero();
			assertThat(earlier.get("problem").asString()).contains("rank " + lost + " lost");
			assertThat(launch.output()).contains("the last collectives of this rank are in");
			drain(port, launch);
		}
	}

	/** The group has all ranks in a later generation than the first. */
	private void awaitWhole(int port, int rank) {
		Awaitility.await().atMost(LIMIT).ignoreExceptions().untilAsserted(() -> {
			assertThat(get(port + rank, "/actuator/health/readiness").statusCode()).isEqualTo(200);
			JsonNode group = json(get(port + rank, "/api/v1/group"));
			assertThat(group.get("worldSize").asInt()).isEqualTo(3);
			assertThat(group.get("generation").asLong()).isPositive();
		});
	}

	/** More calls wait than the machine has processors, and none delays another. */
	private void stopWithCallsUnderWay(int port, TuttiProcess launch) throws Exception {
		List<CompletableFuture<HttpResponse<String>>> waiting = new ArrayList<>();
		for (int call = 0; call <= 4 * Runtime.getRuntime().availableProcessors(); call++) {
			waiting.add(barrier(port + 1, "{\"label\":\"never" + call + "\",\"timeoutMs\":60000}"));
			awaitPosts(port + 1, waiting.size());
		}
		TuttiProcess.signal(launch.handle(), "TERM");
		for (CompletableFuture<HttpResponse<String>> call : waiting) {
			assertThat(call.join().statusCode()).isEqualTo(503);
			assertThat(json(call.join()).get("rank").asInt()).isEqualTo(1);
		}
		assertThat(launch.exitCode(Duration.ofSeconds(30))).as(launch.output()).isZero();
	}

	/** Waits until a rank handles a request that changes state. */
	private void awaitPost(int port) {
		awaitPosts(port, 1);
	}

	/** Waits until a rank handles so many requests that change state. */
	private void awaitPosts(int port, int count) {
		Awaitility.await()
			.atMost(LIMIT)
			.until(() -> get(port, "/actuator/prometheus").body()
				.lines()
				.anyMatch((line) -> line.startsWith("http_server_requests_active_seconds_count")
						&& line.contains("method=\"POST\"") && line.endsWith(" " + count)));
	}

	private void callCollectives(int port) {
		List<HttpResponse<byte[]>> sums = collective(port, "all-reduce?op=sum", floats(1), floats(2), floats(4));
		assertThat(sums).allSatisfy((answer) -> assertThat(answer.body()).isEqualTo(floats(7)));
		List<HttpResponse<byte[]>> copies = collective(port, "broadcast?root=1", new byte[0], floats(5), new byte[0]);
		assertThat(copies).allSatisfy((answer) -> assertThat(answer.body()).isEqualTo(floats(5)));
		List<HttpResponse<byte[]>> differing = collective(port, "all-reduce?op=sum", floats(1), floats(2, 3),
				floats(4));
		assertThat(differing).allSatisfy((answer) -> {
			assertThat(answer.statusCode()).isEqualTo(409);
			assertThat(new String(answer.body(), StandardCharsets.UTF_8)).contains("collective-mismatch", "count 1",
					"count 2");
		});
		CompletableFuture<HttpResponse<byte[]>> patient = one(port + 1, "all-reduce?timeoutMs=30000", floats(2));
		awaitPost(port + 1);
		List<HttpResponse<byte[]>> missing = List.of(one(port, "all-reduce?timeoutMs=500", floats(1)).join(),
				patient.join());
		assertThat(missing).allSatisfy((answer) -> {
			assertThat(answer.statusCode()).isEqualTo(504);
			assertThat(new String(answer.body(), StandardCharsets.UTF_8)).contains("\"missingRanks\":[2]");
		});
		assertThat(one(port + 2, "all-reduce", floats(1)).join().statusCode()).isEqualTo(409);
		List<HttpResponse<byte[]>> again = collective(port, "all-reduce?op=max", floats(1), floats(2), floats(4));
		assertThat(again).allSatisfy((answer) -> assertThat(answer.body()).isEqualTo(floats(4)));
	}

	/** The call of a client that disconnects is withdrawn, and its rank stays in step. */
	private void abandonACollective(int port) throws Exception {
		try (Socket ghost = new Socket(InetAddress.getLoopbackAddress(), port + 1)) {
			ghost.getOutputStream()
				.write(("POST /api/v1/collectives/all-reduce?label=ghost HTTP/1.1\r\nHost: 127.0.0.1\r\n"
						+ "Content-Type: application/octet-stream\r\nContent-Length: 4\r\n\r\n")
					.getBytes(StandardCharsets.US_ASCII));
			ghost.getOutputStream().write(floats(1000));
			ghost.setSoTimeout(2000);
			assertThatThrownBy(() -> ghost.getInputStream().read()).isInstanceOf(SocketTimeoutException.class);
		}
		for (int round = 0; round < 3; round++) {
			List<HttpResponse<byte[]>> sums = collective(port, "all-reduce?label=ghost&timeoutMs=20000", floats(1),
					floats(1), floats(1));
			assertThat(sums).allSatisfy((answer) -> assertThat(answer.body()).isEqualTo(floats(3)));
		}
	}

	private List<HttpResponse<byte[]>> collective(int port, String call, byte[]... bodies) {
		List<CompletableFuture<HttpResponse<byte[]>>> answers = new ArrayList<>();
		for (int rank = 0; rank < bodies.length; rank++) {
			answers.add(one(port + rank, call, bodies[rank]));
		}
		return answers.stream().map(CompletableFuture::join).toList();
	}

	private CompletableFuture<HttpResponse<byte[]>> one(int port, String call, byte[] body) {
		return this.client
			.sendAsync(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/api/v1/collectives/" + call))
				.header("Content-Type", "application/octet-stream")
				.POST(HttpRequest.BodyPublishers.ofByteArray(body))
				.build(), HttpResponse.BodyHandlers.ofByteArray());
	}

	private static byte[] floats(float... values) {
		ByteBuffer bytes = ByteBuffer.allocate(Float.BYTES * values.length).order(ByteOrder.LITTLE_ENDIAN);
		for (float value : values) {
			bytes.putFloat(value);
		}
		return bytes.array();
	}

	/** A drain request to one rank ends every rank cleanly. */
	private void drain(int port, TuttiProcess launch) throws Exception {
		assertThat(post(port + 2, "control/drain", "{\"reason\":\"done\"}").join().statusCode()).isEqualTo(202);
		assertThat(launch.exitCode(Duration.ofSeconds(30))).as(launch.output()).isZero();
	}

	@Test
	void anAbortEndsEveryRankWithItsReason() throws Exception {
		int port = FreePort.next();
		try (TuttiProcess launch = TuttiProcess.start(this.directory, "launch", "-n", "2", "--http-port", "" + port,
				"serve")) {
			awaitReady(port, 2);
			assertThat(json(post(port + 1, "roll-call", "{}").join()).get("silentRanks")).isEmpty();
			post(port + 1, "control/abort", "{\"reason\":\"the data were wrong\"}").join();
			assertThat(launch.exitCode(Duration.ofSeconds(30))).as(launch.output()).isEqualTo(80);
			for (int rank = 0; rank < 2; rank++) {
				assertThat(launch.output())
					.contains("rank " + rank + ": group world: aborted by rank 1: the data were wrong");
			}
		}
	}

	private void passABarrier(int port) {
		List<CompletableFuture<HttpResponse<String>>> answers = new ArrayList<>();
		for (int rank = 0; rank < 3; rank++) {
			answers.add(barrier(port + rank, "{\"label\":\"epoch-3\",\"timeoutMs\":30000}"));
		}
		for (CompletableFuture<HttpResponse<String>> answer : answers) {
			assertThat(answer.join().statusCode()).as(answer.join().body()).isEqualTo(200);
			assertThat(json(answer.join()).get("arrived").asInt()).isEqualTo(3);
			assertThat(json(answer.join()).get("skewMs")).hasSize(3);
		}
	}

	private void breakABarrier(int port) {
		CompletableFuture<HttpResponse<String>> patient = barrier(port + 1, "{\"label\":\"late\",\"timeoutMs\":30000}");
		awaitPost(port + 1);
		List<CompletableFuture<HttpResponse<String>>> answers = List
			.of(barrier(port, "{\"label\":\"late\",\"timeoutMs\":500}"), patient);
		for (CompletableFuture<HttpResponse<String>> answer : answers) {
			assertThat(answer.join().statusCode()).isEqualTo(504);
			assertThat(json(answer.join()).get("type").asString()).isEqualTo("urn:tutti:problem:collective-timeout");
			assertThat(json(answer.join()).get("missingRanks").toString()).isEqualTo("[2]");
		}
		assertThat(barrier(port + 2, "{\"label\":\"late\",\"timeoutMs\":500}").join().statusCode()).isEqualTo(409);
	}

	@Test
	void aLostRankTakesReadinessButNotLivenessAndTheOthersStayAnswerable() throws Exception {
		int port = FreePort.next();
		try (TuttiProcess launch = TuttiProcess.start(this.directory, "launch", "-n", "3", "--http-port", "" + port,
				"serve")) {
			awaitReady(port, 3);
			TuttiProcess.signal(launch.rank(1, LIMIT), "KILL");
			for (int rank : new int[] { 0, 2 }) {
				int self = port + rank;
				Awaitility.await()
					.atMost(Duration.ofSeconds(10))
					.until(() -> get(self, "/actuator/health/readiness").statusCode() == 503);
				assertThat(get(self, "/actuator/health/liveness").statusCode()).isEqualTo(200);
				assertThat(json(get(self, "/api/v1/group")).get("state").asString()).isEqualTo("BROKEN");
				assertThat(get(self, "/api/v1/group").body()).contains("rank 1 lost");
				assertThat(json(post(self, "roll-call", "{}").join()).get("problem").asString())
					.contains("rank 1 lost");
				HttpResponse<String> refused = barrier(self, "{\"label\":\"x\",\"timeoutMs\":500}").join();
				assertThat(refused.statusCode()).isEqualTo(503);
				assertThat(json(refused).get("type").asString()).isEqualTo("urn:tutti:problem:peer-lost");
			}
		}
	}

	@Test
	void aTakenPortIsAnErrorThatNamesIt() throws Exception {
		try (java.net.ServerSocket taken = new java.net.ServerSocket(0, 1, java.net.InetAddress.getLoopbackAddress());
				TuttiProcess serve = TuttiProcess.start(this.directory, "serve", "--http-port",
						"" + taken.getLocalPort())) {
			assertThat(serve.exitCode(LIMIT)).as(serve.output()).isEqualTo(64);
			assertThat(serve.output()).contains("" + taken.getLocalPort());
		}
	}

	private void awaitReady(int port, int worldSize) {
		for (int rank = 0; rank < worldSize; rank++) {
			int self = port + rank;
			Awaitility.await()
				.atMost(LIMIT)
				.ignoreExceptions()
				.until(() -> get(self, "/actuator/health/readiness").statusCode() == 200);
		}
	}

	private HttpResponse<String> get(int port, String path) throws IOException, InterruptedException {
		return this.client.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build(),
				HttpResponse.BodyHandlers.ofString());
	}

	private CompletableFuture<HttpResponse<String>> barrier(int port, String body) {
		return post(port, "barrier", body);
	}

	private CompletableFuture<HttpResponse<String>> post(int port, String endpoint, String body) {
		return this.client
			.sendAsync(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/api/v1/" + endpoint))
				.header("Content-Type", "application/json")
				.POST(HttpRequest.BodyPublishers.ofString(body))
				.build(), HttpResponse.BodyHandlers.ofString());
	}

	private static JsonNode json(HttpResponse<String> response) {
		return JsonMapper.shared().readTree(response.body());
	}

}
