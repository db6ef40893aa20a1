package io.tutti.endtoend;

import java.io.IOException;
import java.math.BigInteger;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import io.tutti.ExitCode;
import io.tutti.FreePort;
import io.tutti.engine.tls.Authority;
import io.tutti.engine.tls.Authority.Identity;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * Two real ranks whose connections all use mutual TLS, and whose certificate is renewed
 * while they run.
 */
@Order(3)
@Timeout(240)
class TlsIT {

	private static final Duration LIMIT = Duration.ofSeconds(90);

	private static final int RANKS = 2;

	private final Authority authority = Authority.named("CN=ours");

	private final Identity caller = issue();

	@TempDir
	Path directory;

	private Identity issue() {
		return this.authority.issue(Duration.ofDays(1), List.of(Authority.NAME, "localhost"));
	}

	private void install(Identity identity) throws Exception {
		Path next = Files.createDirectories(this.directory.resolve("next"));
		identity.write(next.resolve("rank.crt"), next.resolve("rank.key"));
		for (String file : List.of("rank.key", "rank.crt")) {
			Files.move(next.resolve(file), this.directory.resolve(file), StandardCopyOption.REPLACE_EXISTING);
		}
	}

	@Test
	void ranksMeetServeAndTakeUpARenewedCertificate() throws Exception {
		this.authority.write(this.directory.resolve("ca.crt"));
		Identity first = issue();
		install(first);
		int port = Math.min(FreePort.next(), 65_000);
		try (TuttiProcess launch = TuttiProcess.start(this.directory, "launch", "-n", "" + RANKS, "--http-port",
				"" + port, "serve", "--tutti.transport.kind=tcp", "--tutti.tls.bundle=ranks",
				"--tutti.tls.peer-name=" + Authority.NAME, "--server.ssl.bundle=ranks", "--server.ssl.client-auth=need",
				"--spring.ssl.bundle.pem.ranks.reload-on-update=true",
				"--spring.ssl.bundle.pem.ranks.keystore.certificate=file:rank.crt",
				"--spring.ssl.bundle.pem.ranks.keystore.private-key=file:rank.key",
				"--spring.ssl.bundle.pem.ranks.truststore.certificate=file:ca.crt",
				"--spring.ssl.bundle.watch.file.quiet-period=1s")) {
			launch.awaitLines("joined the group", RANKS, LIMIT);
			assertThat(client(first).send(get(port, "actuator/info"), HttpResponse.BodyHandlers.ofString()).body())
				.contains("\"enabled\":true", "\"peerName\":\"" + Authority.NAME + "\"");
			assertThat(shown(port)).isEqualTo(first.certificate().getSerialNumber());
			assertThatThrownBy(() -> client().send(get(port, "api/v1/group"), HttpResponse.BodyHandlers.ofString()))
				.isInstanceOf(IOException.class);

			Identity second = issue();
			install(second);
			launch.awaitLines("SSL bundle ranks was renewed", RANKS, LIMIT);
			Awaitility.await().atMost(LIMIT).until(() -> shown(port).equals(second.certificate().getSerialNumber()));
			addUp(port);
			assertThat(json(port, "api/v1/group")).isEqualTo("READY");
			TuttiProcess.signal(launch.handle(), "TERM");
			assertThat(launch.exitCode(Duration.ofSeconds(20))).as(launch.output()).isZero();
		}
	}

	@Test
	void theOthersContinueWithTheirCertificatesWhenARankIsKilledAndItsReplacementJoins() throws Exception {
		this.authority.write(this.directory.resolve("ca.crt"));
		install(issue());
		PausingTask.write(this.directory);
		try (TuttiProcess launch = TuttiProcess.start(this.directory, TuttiProcess.SCALAR, "launch", "-n", "3",
				"--min-ranks", "2", "--max-restarts", "1", "--http-port", "" + Math.min(FreePort.next(), 65_000),
				"train", "--epochs", "100000", "--task", PausingTask.class.getName(), "--class-path", PausingTask.JAR,
				"--tutti.tls.bundle=ranks", "--tutti.tls.peer-name=" + Authority.NAME,
				"--spring.ssl.bundle.pem.ranks.keystore.certificate=file:rank.crt",
				"--spring.ssl.bundle.pem.ranks.keystore.private-key=file:rank.key",
				"--spring.ssl.bundle.pem.ranks.truststore.certificate=file:ca.crt")) {
			launch.awaitLine("epoch +2/100000", LIMIT);
			TuttiProcess.signal(launch.rank(0, LIMIT), "KILL");
			launch.awaitLine("\\[[12]] tutti: this process is rank 0 now; HTTP on https?://\\S+:\\d+", LIMIT);
			launch.awaitLine(".*continuing after step \\d+ with 2 ranks", LIMIT);
			launch.awaitLine("ranks \\[0\\] took the state of rank", LIMIT);
			TuttiProcess.signal(launch.handle(), "TERM");
			assertThat(launch.exitCode(Duration.ofSeconds(20))).as(launch.output())
				.isEqualTo(ExitCode.STOPPED_ON_REQUEST);
		}
	}

	/** The first collective over HTTP, which forms a group with its own connections. */
	private void addUp(int port) {
		HttpClient client = client(this.caller);
		List<CompletableFuture<HttpResponse<byte[]>>> sums = IntStream.range(0, RANKS)
			.mapToObj((rank) -> client.sendAsync(HttpRequest
				.newBuilder(URI.create("https://localhost:" + (port + rank) + "/api/v1/collectives/all-reduce"))
				.header("Content-Type", "application/octet-stream")
				.POST(HttpRequest.BodyPublishers.ofByteArray(floats(rank + 1)))
				.build(), HttpResponse.BodyHandlers.ofByteArray()))
			.toList();
		assertThat(sums).allSatisfy((sum) -> assertThat(sum.join().body()).isEqualTo(floats(3)));
	}

	private static byte[] floats(float value) {
		return ByteBuffer.allocate(Float.BYTES).order(ByteOrder.LITTLE_ENDIAN).putFloat(value).array();
	}

	private String json(int port, String path) throws Exception {
		return JsonMapper.shared()
			.readTree(client(this.caller).send(get(port, path), HttpResponse.BodyHandlers.ofString()).body())
			.get("state")
			.asString();
	}

	/** The serial number of the certificate that a new connection receives. */
	private BigInteger shown(int port) throws Exception {
		try (HttpClient fresh = client(this.caller)) {
			HttpResponse<Void> answer = fresh.send(get(port, "actuator/health/liveness"),
					HttpResponse.BodyHandlers.discarding());
			return ((X509Certificate) answer.sslSession().orElseThrow().getPeerCertificates()[0]).getSerialNumber();
		}
	}

	private static HttpRequest get(int port, String path) {
		return HttpRequest.newBuilder(URI.create("https://localhost:" + port + "/" + path))
			.timeout(Duration.ofSeconds(20))
			.build();
	}

	private HttpClient client(Identity... shown) {
		return HttpClient.newBuilder().sslContext(this.authority.context(shown)).build();
	}

}
