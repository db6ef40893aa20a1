package io.tutti.probe;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsServer;
import io.tutti.BadConfigurationException;
import io.tutti.engine.tls.Authority;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The results of the probes for ranks that answer correctly, with errors, with other
 * content or not at all.
 */
@Timeout(value = 30, unit = TimeUnit.SECONDS)
class ProbeTest {

	private static final Authority OURS = Authority.named("CN=ours");

	private final List<HttpServer> servers = new ArrayList<>();

	private final List<String> received = new CopyOnWriteArrayList<>();

	@AfterEach
	void stopTheServers() {
		this.servers.forEach((server) -> server.stop(0));
	}

	@ParameterizedTest
	@CsvSource({ "'', 127.0.0.1", "0.0.0.0, 127.0.0.1", "::, [::1]", "10.1.2.3, 10.1.2.3", "fd00::1, [fd00::1]" })
	void theProbeUsesTheAddressThatTheRankListensOn(String address, String host) {
		assertThat(
				HealthProbe.endpoints(Map.of("TUTTI_HTTP_ADDRESS", address, "TUTTI_HTTP_PORT", "8123"), "liveness", 2))
			.map(URI::toString)
			.containsExactly("http://" + host + ":8123/actuator/health/liveness",
					"http://" + host + ":8124/actuator/health/liveness");
	}

	@Test
	void thePortIsTheDefaultUnlessItIsSet() {
		assertThat(HealthProbe.endpoints(Map.of(), "readiness", 1))
			.containsExactly(URI.create("http://127.0.0.1:8080/actuator/health/readiness"));
	}

	@Test
	void aRankThatAnswers200IsHealthy() {
		assertThat(HealthProbe.healthy(server(200, () -> "{\"status\":\"UP\"}"))).isTrue();
	}

	@Test
	void aRankThatAnswers503IsUnhealthy() {
		assertThat(HealthProbe.healthy(server(503, () -> "{\"status\":\"DOWN\"}"))).isFalse();
	}

	@Test
	void aRankThatDoesNotAnswerIsUnhealthy() {
		URI gone = server(200, () -> "");
		this.servers.removeFirst().stop(0);
		assertThat(HealthProbe.healthy(gone)).isFalse();
	}

	@ParameterizedTest
	@CsvSource({ "http://127.0.0.1:8080, true", "https://tutti-0.tutti:8080/, true", "http://[::1]:8080, true",
			"127.0.0.1:8080, false", "tutti-0, false", "http:8080, false", "'http://a b', false", "ftp://a, false",
			"http://h:65535, true", "http://h:70000, false", "http://h_0:8080, true", "http://h_0:70000, false",
			"http://h:x, false", "http://:8080, false" })
	void onlyAnAddressOverHttpIsThatOfARank(String text, boolean valid) {
		assertThat(GroupProbe.isUrl(text)).isEqualTo(valid);
	}

	@Test
	void ranksThatDoNotAnswerAreAskedTogetherWithTheOthers() throws Exception {
		URI healthy = server(200, () -> "{\"status\":\"UP\"}");
		try (ServerSocket silent = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
			URI stopped = URI.create("http://127.0.0.1:" + silent.getLocalPort() + "/actuator/health/liveness");
			List<URI> ranks = Stream.concat(Collections.nCopies(15, stopped).stream(), Stream.of(healthy)).toList();
			assertThat(HealthProbe.healthy(ranks)).isOne();
		}
	}

	@Test
	void ranksOfTheSameGenerationAreOneGroup() throws InterruptedException {
		GroupProbe probe = new GroupProbe(List.of(rank("READY", 0, 2, 7), rank("READY", 1, 2, 7)), "", Trust.JAVAS_OWN);
		assertThat(probe.agreesWithin(Duration.ZERO)).isTrue();
	}

	@ParameterizedTest
	@CsvSource({ "BROKEN, 1, 2, 7", "READY, 0, 2, 7", "READY, 1, 3, 7", "READY, 1, 2, 8" })
	void aRankWithAnUnexpectedStateIsNotPartOfTheGroup(String state, int rank, int worldSize, long generation)
			throws InterruptedException {
		GroupProbe probe = new GroupProbe(List.of(rank("READY", 0, 2, 7), rank(state, rank, worldSize, generation)), "",
				Trust.JAVAS_OWN);
		assertThat(probe.agreesWithin(Duration.ZERO)).isFalse();
	}

	@Test
	void aRankThatAnswersNoJsonIsNotPartOfTheGroup() throws InterruptedException {
		assertThat(
				new GroupProbe(List.of(server(200, () -> "<html>")), "", Trust.JAVAS_OWN).agreesWithin(Duration.ZERO))
			.isFalse();
	}

	@Test
	void theProbeWaitsForAGroupToForm() throws InterruptedException {
		AtomicInteger asked = new AtomicInteger();
		URI forming = server(200, () -> view((asked.getAndIncrement() == 0) ? "FORMING" : "READY", 0, 1, 1));
		assertThat(new GroupProbe(List.of(forming), "", Trust.JAVAS_OWN).agreesWithin(Duration.ofSeconds(20))).isTrue();
		assertThat(asked).hasValue(2);
	}

	@Test
	void ranksAreAskedAtTheSameTime() throws InterruptedException {
		CountDownLatch asked = new CountDownLatch(3);
		List<URI> ranks = new ArrayList<>();
		for (int rank = 0; rank < 3; rank++) {
			int number = rank;
			ranks.add(server(200, () -> {
				asked.countDown();
				try {
					return asked.await(20, TimeUnit.SECONDS) ? view("READY", number, 3, 1) : "alone";
				}
				catch (InterruptedException ex) {
					return "interrupted";
				}
			}));
		}
		assertThat(new GroupProbe(ranks, "", Trust.JAVAS_OWN).agreesWithin(Duration.ZERO)).isTrue();
	}

	@Test
	void aRollCallThatEveryRankAnswersIsComplete() {
		URI rank = server(200, () -> "{\"answered\":[{\"rank\":0},{\"rank\":1}],\"silentRanks\":[]}");
		assertThat(new GroupProbe(List.of(rank, rank), "a token", Trust.JAVAS_OWN).answersTheRoll()).isTrue();
		assertThat(this.received).containsExactly("POST /api/v1/roll-call Bearer a token {}");
	}

	@Test
	void aRollCallOfThousandsOfRanksIsReadToItsEnd() {
		int ranks = 5000;
		String answered = IntStream.range(0, ranks)
			.mapToObj((rank) -> "{\"rank\":" + rank + ",\"roundTripMs\":1}")
			.collect(Collectors.joining(","));
		URI rank = server(200, () -> "{\"answered\":[" + answered + "],\"silentRanks\":[]}");
		assertThat(new GroupProbe(Collections.nCopies(ranks, rank), "", Trust.JAVAS_OWN).answersTheRoll()).isTrue();
	}

	@ParameterizedTest
	@CsvSource(quoteCharacter = '\'', textBlock = """
			200, '{"answered":[{"rank":0}],"silentRanks":[1]}'
			200, '{"answered":[{"rank":0}],"silentRanks":[]}'
			200, '<html>'
			401, '{"type":"urn:tutti:problem:auth-failed"}'""")
	void aRollCallWithoutAnAnswerOfEveryRankIsIncomplete(int status, String answer) {
		URI rank = server(status, () -> answer);
		assertThat(new GroupProbe(List.of(rank, rank), "", Trust.JAVAS_OWN).answersTheRoll()).isFalse();
		assertThat(this.received).containsExactly("POST /api/v1/roll-call null {}");
	}

	@Test
	void aRollCallWithoutAServerIsIncomplete() {
		URI gone = server(200, () -> "");
		this.servers.removeFirst().stop(0);
		assertThat(new GroupProbe(List.of(gone), "", Trust.JAVAS_OWN).answersTheRoll()).isFalse();
	}

	@Test
	void theTokenIsReadFromTheVariablesOfTheRanks(@TempDir Path folder) throws IOException {
		Path file = Files.writeString(folder.resolve("token"), "from a file\n");
		assertThat(GroupProbe.token(Map.of())).isEmpty();
		assertThat(GroupProbe.token(Map.of("TUTTI_SECURITY_TOKEN", "given"))).isEqualTo("given");
		for (String variable : List.of("TUTTI_SECURITY_TOKENFILE", "TUTTI_SECURITY_TOKEN_FILE")) {
			assertThat(GroupProbe.token(Map.of(variable, file.toString()))).isEqualTo("from a file");
			assertThatExceptionOfType(BadConfigurationException.class)
				.isThrownBy(() -> GroupProbe.token(Map.of(variable, "/dev/zero")))
				.withMessageContaining("it is no regular file");
			assertThatExceptionOfType(BadConfigurationException.class)
				.isThrownBy(() -> GroupProbe.token(Map.of(variable, file.toString(), "TUTTI_SECURITY_TOKEN", "given")))
				.withMessageContaining("both set");
		}
	}

	@Test
	void aRankThatUsesTlsIsQueriedOverHttps() {
		URI rank = secured(() -> "{}");
		assertThat(HealthProbe.secured(URI.create(rank.toString().replace("https", "http")))).isEqualTo(rank);
		assertThat(HealthProbe.healthy(rank)).isTrue();
		assertThat(HealthProbe.healthy(server(400, () -> "speak TLS"))).isFalse();
	}

	@Test
	void theActuatorIsQueriedAtItsOwnPort() {
		assertThat(HealthProbe.endpoints(Map.of("TUTTI_HTTP_PORT", "8080", "MANAGEMENT_SERVER_PORT", "9090"),
				"liveness", 1))
			.containsExactly(URI.create("http://127.0.0.1:9090/actuator/health/liveness"));
	}

	@Test
	void aRollCallOverHttpsRequiresTheRanksCertificate(@TempDir Path folder) throws Exception {
		URI rank = secured(() -> "{\"answered\":[{\"rank\":0}],\"silentRanks\":[]}");
		assertThat(new GroupProbe(List.of(rank), "a token", trust(OURS, Authority.NAME, folder)).answersTheRoll())
			.isTrue();
		this.received.clear();
		assertThat(new GroupProbe(List.of(rank), "a token", trust(OURS, "other.test", folder)).answersTheRoll())
			.isFalse();
		assertThat(new GroupProbe(List.of(rank), "a token", trust(Authority.named("CN=theirs"), Authority.NAME, folder))
			.answersTheRoll()).isFalse();
		assertThat(new GroupProbe(List.of(rank), "a token", GroupProbe.trust(Map.of())).answersTheRoll()).isFalse();
		assertThat(this.received).isEmpty();
	}

	private static Trust trust(Authority authority, String peerName, Path folder) throws Exception {
		Path file = folder.resolve("ca.crt");
		authority.write(file);
		return GroupProbe
			.trust(Map.of(GroupProbe.AUTHORITY_VARIABLE, file.toString(), GroupProbe.PEER_NAME_VARIABLE, peerName));
	}

	private URI secured(Supplier<String> answer) {
		try {
			HttpsServer server = HttpsServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
			server.setHttpsConfigurator(new HttpsConfigurator(OURS.context(OURS.rank())));
			return started(server, "https", 200, answer);
		}
		catch (IOException ex) {
			throw new AssertionError(ex);
		}
	}

	private URI rank(String state, int rank, int worldSize, long generation) {
		return server(200, () -> view(state, rank, worldSize, generation));
	}

	private static String view(String state, int rank, int worldSize, long generation) {
		return "{\"state\":\"%s\",\"rank\":%d,\"worldSize\":%d,\"generation\":%d}".formatted(state, rank, worldSize,
				generation);
	}

	private URI server(int status, Supplier<String> answer) {
		try {
			return started(HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0), "http",
					status, answer);
		}
		catch (IOException ex) {
			throw new AssertionError(ex);
		}
	}

	private URI started(HttpServer server, String scheme, int status, Supplier<String> answer) {
		server.createContext("/", (exchange) -> {
			this.received.add(String.join(" ", exchange.getRequestMethod(), exchange.getRequestURI().getPath(),
					exchange.getRequestHeaders().getFirst("Authorization"),
					new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8)));
			byte[] bytes = answer.get().getBytes(StandardCharsets.UTF_8);
			exchange.sendResponseHeaders(status, bytes.length);
			try (OutputStream body = exchange.getResponseBody()) {
				body.write(bytes);
			}
		});
		server.start();
		this.servers.add(server);
		return URI.create(scheme + "://127.0.0.1:" + server.getAddress().getPort());
	}

}
