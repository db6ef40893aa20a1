package io.tutti.endtoend;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The live page of ranks that serve, in a real browser. Its pictures are left under
 * {@code target/page}.
 */
@Timeout(240)
class PageIT {

	private static final Duration LIMIT = Duration.ofSeconds(90);

	private static final Path PICTURES = Path.of("target", "page");

	@TempDir
	Path directory;

	@TempDir
	Path profile;

	@Test
	void thePageShowsThreeRanksAndWithinThreeSecondsWhichOneWasKilled() throws Exception {
		int port = FreePort.find();
		Path flights = this.directory.resolve("flights");
		try (Browser browser = Browser.open(this.profile, 1000, 900);
				TuttiProcess launch = TuttiProcess.start(this.directory, "launch", "-n", "3", "--http-port", "" + port,
						"serve", "--tutti.flight-recorder.folder=" + flights)) {
			for (int rank = 0; rank < 3; rank++) {
				launch.awaitLine("rank " + rank + ": joined the group", LIMIT);
			}
			browser.visit("http://127.0.0.1:" + (port + 2) + "/");
			Awaitility.await().atMost(LIMIT).untilAsserted(() -> {
				assertThat(browser.texts("#state")).containsExactly("● Ready");
				assertThat(browser.texts(".rank h3")).hasSize(3).allMatch((title) -> title.contains("● up"));
			});
			assertThat(browser.texts("#link")).containsExactly("● live");
			assertThat(browser.texts(".rank h3").get(2)).contains("rank 2 (this one)");
			browser.picture(PICTURES.resolve("ready.png"));
			TuttiProcess.signal(launch.rank(1, LIMIT), "KILL");
			Awaitility.await().atMost(Duration.ofSeconds(3)).pollInterval(Duration.ofMillis(50)).untilAsserted(() -> {
				assertThat(browser.texts("#state")).containsExactly("✕ Broken");
				assertThat(browser.texts("#problem").getFirst()).contains("rank 1 lost");
				assertThat(browser.texts(".rank[data-rank='1'] h3").getFirst()).contains("✕ lost");
			});
			browser.requireNoComplaints();
			pictures(browser);
			assertThat(launch.output()).contains("the last collectives of this rank are in " + flights);
			try (Stream<Path> files = Files.list(flights)) {
				assertThat(files).hasSize(2).allMatch((file) -> file.toString().endsWith(".json"));
			}
		}
	}

	/** On a phone nothing is wider than the screen. */
	private static void pictures(Browser browser) throws Exception {
		browser.picture(PICTURES.resolve("broken.png"));
		browser.prefer("dark");
		browser.resize(360, 800);
		assertThat(browser.overflow()).isZero();
		browser.picture(PICTURES.resolve("broken-phone-dark.png"));
	}

}
