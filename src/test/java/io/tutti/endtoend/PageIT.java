package io.tutti.endtoend;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.List;
import java.util.stream.Stream;

import io.tutti.FreePort;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The live page of serving ranks in a real browser. Screenshots are written to
 * {@code target/page}.
 */
@Order(3)
@Timeout(240)
class PageIT {

	private static final Duration LIMIT = Duration.ofSeconds(90);

	private static final Path PICTURES = Path.of("target", "page");

	private static Browser browser;

	@TempDir
	Path directory;

	@BeforeAll
	static void open(@TempDir Path profile) {
		browser = Browser.open(profile);
	}

	@AfterAll
	static void close() {
		if (browser != null) {
			browser.close();
		}
	}

	/** Only the end of its connection shows the loss: no heartbeat times out. */
	@Test
	void thePageShowsThreeRanksAndWhichOneWasKilledLongBeforeItsHeartbeat() throws Exception {
		int port = FreePort.next();
		Path flights = this.directory.resolve("flights");
		browser.newTab(1000, 900);
		try (TuttiProcess launch = TuttiProcess.start(this.directory, "launch", "-n", "3", "--http-port", "" + port,
				"serve", "--tutti.timeout.heartbeat=1h", "--tutti.flight-recorder.folder=" + flights)) {
			for (int rank = 0; rank < 3; rank++) {
				launch.awaitLine("rank " + rank + ": joined the group", LIMIT);
			}
			browser.visit("http://127.0.0.1:" + (port + 2) + "/");
			Awaitility.await().atMost(LIMIT).untilAsserted(() -> {
				assertThat(browser.texts("#state")).containsExactly("● Ready");
				assertThat(browser.texts(".rank h3")).hasSize(3).allMatch((title) -> title.contains("● up"));
				assertThat(browser.texts("#link")).containsExactly("● live");
			});
			assertThat(browser.texts(".rank h3")).last().asString().contains("rank 2 (this one)");
			browser.picture(PICTURES.resolve("ready.png"));
			TuttiProcess.signal(launch.rank(1, LIMIT), "KILL");
			Awaitility.await().atMost(LIMIT).pollInterval(Duration.ofMillis(50)).untilAsserted(() -> {
				assertThat(browser.texts("#state")).containsExactly("✕ Broken");
				assertThat(browser.texts("#problem")).first().asString().contains("rank 1 lost");
				assertThat(browser.texts(".rank[data-rank='1'] h3")).first().asString().contains("✕ lost");
				assertThat(browser.texts("#events li span"))
					.anyMatch((event) -> event.startsWith("generation 0 formed: 3 ranks"))
					.anyMatch((event) -> event.contains("the group broke: group world: rank 1 lost"));
			});
			browser.requireNoComplaints();
			pictures();
			aLaterViewerSeesWhatHappenedBefore(port);
			assertThat(launch.output()).contains("the last collectives of this rank are in " + flights);
			try (Stream<Path> files = Files.list(flights)) {
				assertThat(files).hasSize(2).allMatch((file) -> file.toString().endsWith(".json"));
			}
		}
	}

	@Test
	void theTimelineOfAnElasticGroupShowsTwoGenerationsAndTheLossBetweenThem() throws Exception {
		int port = FreePort.next();
		browser.newTab(1000, 900);
		try (TuttiProcess launch = TuttiProcess.start(this.directory, "launch", "-n", "3", "--min-ranks", "2",
				"--http-port", "" + port, "serve", "--tutti.flight-recorder.folder=" + this.directory)) {
			for (int rank = 0; rank < 3; rank++) {
				launch.awaitLine("\\[" + rank + "\\] tutti: generation 0: ranks \\[0, 1, 2\\]", LIMIT);
			}
			browser.visit("http://127.0.0.1:" + (port + 2) + "/");
			Awaitility.await()
				.atMost(LIMIT)
				.untilAsserted(() -> assertThat(browser.texts(".rank h3")).hasSize(3)
					.allMatch((title) -> title.contains("● up")));
			TuttiProcess.signal(launch.rank(1, LIMIT), "KILL");
			Awaitility.await().atMost(LIMIT).untilAsserted(() -> {
				assertThat(browser.texts("#state")).containsExactly("● Ready");
				assertThat(browser.texts(".rank h3")).hasSize(2).allMatch((title) -> title.contains("● up"));
				List<String> newestFirst = browser.texts("#events li span");
				assertThat(newestFirst.reversed()).satisfiesExactly((event) -> assertThat(event).contains("started"),
						(event) -> assertThat(event).startsWith("generation 0 formed: 3 ranks"),
						(event) -> assertThat(event).contains("generation 0 broke: group world: rank 1 lost"),
						(event) -> assertThat(event).isEqualTo("rank 1 lost"),
						(event) -> assertThat(event).startsWith("generation 1 formed: 2 ranks, after "));
			});
			browser.requireNoComplaints();
			browser.picture(PICTURES.resolve("elastic.png"));
		}
	}

	@Test
	void aPageThatReceivesNothingDoesNotClaimAStateAndRetries() throws Exception {
		int port = FreePort.next();
		browser.newTab(1000, 900);
		try (TuttiProcess serve = TuttiProcess.start(this.directory, "serve", "--http-port", "" + port)) {
			serve.awaitLine("joined the group", LIMIT);
			try (HttpClient others = HttpClient.newHttpClient()) {
				HttpRequest view = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/page/events"))
					.build();
				for (int viewer = 0; viewer < 32; viewer++) {
					others.send(view, HttpResponse.BodyHandlers.ofInputStream());
				}
				browser.visit("http://127.0.0.1:" + port + "/");
				awaitState("◌ Unknown");
				others.shutdownNow();
			}
			awaitState("● Ready");
			TuttiProcess.signal(serve.handle(), "KILL");
			awaitState("◌ Unknown");
			try (TuttiProcess next = TuttiProcess.start(this.directory, "serve", "--http-port", "" + port)) {
				next.awaitLine("joined the group", LIMIT);
				awaitState("● Ready");
			}
		}
	}

	private static void awaitState(String state) {
		Awaitility.await()
			.atMost(LIMIT)
			.untilAsserted(() -> assertThat(browser.texts("#state")).containsExactly(state));
	}

	private static void aLaterViewerSeesWhatHappenedBefore(int port) {
		browser.visit("http://127.0.0.1:" + port + "/");
		Awaitility.await()
			.atMost(LIMIT)
			.untilAsserted(() -> assertThat(browser.texts("#events li span")).hasSizeGreaterThanOrEqualTo(3)
				.last()
				.asString()
				.contains("started"));
		browser.run("if (!samples.length || samples[0].atMillis >= performance.timeOrigin)"
				+ " throw new Error('no sample is older than the page')");
	}

	@Test
	void thePageOfATrainingJobShowsItsSpeedAndWhatRemains() throws Exception {
		int port = FreePort.next();
		browser.newTab(1000, 1300);
		PausingTask.write(this.directory);
		try (TuttiProcess launch = TuttiProcess.start(this.directory, TuttiProcess.SCALAR, "launch", "-n", "2",
				"--http-port", "" + port, "train", "--epochs", "100000", "--task", PausingTask.class.getName(),
				"--class-path", PausingTask.JAR)) {
			launch.awaitLine("epoch      3/100000", LIMIT);
			browser.visit("http://127.0.0.1:" + port + "/");
			Awaitility.await().atMost(LIMIT).untilAsserted(() -> {
				assertThat(browser.texts("#speed dt")).containsExactly("samples/s", "step", "remaining",
						"exposed communication", "waiting for data");
				assertThat(browser.texts("#speed dd")).noneMatch(String::isBlank);
				assertThat(browser.texts("#loss text")).contains("now").hasSizeGreaterThanOrEqualTo(5);
			});
			browser.picture(PICTURES.resolve("training.png"));
			browser.prefer("dark");
			browser.resize(390, 2000);
			assertThat(browser.overflow()).isZero();
			browser.picture(PICTURES.resolve("training-phone-dark.png"));
			browser.requireNoComplaints();
		}
	}

	@Test
	void sixtyFourRanksAreReadableOnAPhone() throws Exception {
		int port = FreePort.next();
		browser.newTab(1000, 1300);
		try (TuttiProcess launch = TuttiProcess.start(this.directory, "launch", "-n", "1", "--http-port", "" + port,
				"serve")) {
			launch.awaitLine("joined the group", LIMIT);
			browser.visit("http://127.0.0.1:" + port + "/");
			Awaitility.await()
				.atMost(LIMIT)
				.untilAsserted(() -> assertThat(browser.texts("#state")).containsExactly("● Ready"));
			browser.run(Files.readString(Path.of("src/test/resources/io/tutti/endtoend/many-ranks.js")));
			assertThat(browser.texts("#ranks-count")).containsExactly("● 56 up · ◐ 6 waits · ✕ 1 lost · ▲ 1 missing");
			assertThat(browser.texts(".rank[data-rank='17']").getFirst()).contains("✕ lost", "its connection ended");
			browser.picture(PICTURES.resolve("many.png"));
			browser.resize(390, 2000);
			assertThat(browser.overflow()).isZero();
			assertThat(browser.texts("#flight td[data-name=Bytes]")).hasSize(50)
				.allMatch((cell) -> cell.equals("38.5 kB"));
			browser.picture(PICTURES.resolve("many-phone.png"));
		}
	}

	/**
	 * A body without a content type needs no preflight request, so only the rank itself
	 * can reject it.
	 */
	@Test
	void aPageOfAnotherOriginTakesPartInNothing() throws Exception {
		int port = FreePort.next();
		browser.newTab(1000, 900);
		try (TuttiProcess launch = TuttiProcess.start(this.directory, "launch", "-n", "2", "--http-port", "" + port,
				"serve"); ForeignPage page = ForeignPage.postingTo(allReduceAt(port).toString())) {
			for (int rank = 0; rank < 2; rank++) {
				launch.awaitLine("rank " + rank + ": joined the group", LIMIT);
			}
			browser.visit(page.address());
			Awaitility.await()
				.atMost(LIMIT)
				.untilAsserted(() -> assertThat(browser.texts("#sent")).containsExactly("sent"));
			CompletableFuture<HttpResponse<byte[]>> first = allReduceOfOne(port);
			CompletableFuture<HttpResponse<byte[]>> second = allReduceOfOne(port + 1);
			assertThat(sum(first)).isEqualTo(2);
			assertThat(sum(second)).isEqualTo(2);
			browser.visit("http://rebound.localhost:" + port + "/");
			assertThat(browser.texts("body").getFirst())
				.contains("the host rebound.localhost is not a name or address");
			browser.visit("http://127.0.0.1:" + port + "/");
			Awaitility.await()
				.atMost(LIMIT)
				.untilAsserted(() -> assertThat(browser.texts("#state, #link")).containsExactlyInAnyOrder("● Ready",
						"● live"));
		}
	}

	private static URI allReduceAt(int port) {
		return URI.create("http://127.0.0.1:" + port + "/api/v1/collectives/all-reduce?dtype=float32&op=sum");
	}

	private static CompletableFuture<HttpResponse<byte[]>> allReduceOfOne(int port) {
		byte[] one = ByteBuffer.allocate(4).order(ByteOrder.LITTLE_ENDIAN).putFloat(1).array();
		return HttpClient.newHttpClient()
			.sendAsync(HttpRequest.newBuilder(allReduceAt(port))
				.header("Content-Type", "application/octet-stream")
				.timeout(LIMIT)
				.POST(HttpRequest.BodyPublishers.ofByteArray(one))
				.build(), HttpResponse.BodyHandlers.ofByteArray());
	}

	private static float sum(CompletableFuture<HttpResponse<byte[]>> answer) {
		HttpResponse<byte[]> response = answer.join();
		assertThat(response.statusCode()).isEqualTo(200);
		return ByteBuffer.wrap(response.body()).order(ByteOrder.LITTLE_ENDIAN).getFloat();
	}

	/** Takes screenshots and checks that on a phone nothing is wider than the screen. */
	private static void pictures() throws Exception {
		browser.picture(PICTURES.resolve("broken.png"));
		browser.prefer("dark");
		browser.resize(390, 2000);
		assertThat(browser.overflow()).isZero();
		browser.picture(PICTURES.resolve("broken-phone-dark.png"));
	}

}
