package io.tutti.endtoend;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;

import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Training by real ranks, as a user starts them.
 */
@Order(4)
@Timeout(240)
class TrainIT {

	private static final Duration LIMIT = Duration.ofSeconds(120);

	@TempDir
	Path directory;

	@Test
	void threeRanksOnTwoCoresTrainTheDigitsAndSayWhatTheyDid() throws Exception {
		Path report = this.directory.resolve("report.json");
		try (TuttiProcess launch = start(3, 10, "--report", report.toString())) {
			assertThat(launch.exitCode(LIMIT)).as(launch.output()).isZero();
			JsonNode summary = JsonMapper.shared().readTree(Files.readString(report));
			assertThat(summary.propertyNames()).containsExactlyInAnyOrder("worldSize", "backend", "epochs",
					"testAccuracy", "samplesPerSecond", "allReducedBytes", "communicationSeconds", "checkpointSeconds",
					"parameterSha256");
			assertThat(summary.get("worldSize").asInt()).isEqualTo(3);
			assertThat(summary.get("backend").asString()).isEqualTo("tcp");
			assertThat(summary.get("testAccuracy").asDouble()).isGreaterThanOrEqualTo(0.96);
			assertThat(summary.get("allReducedBytes").asLong()).isPositive();
			assertThat(summary.get("parameterSha256")).hasSize(3).containsOnly(summary.get("parameterSha256").get(0));
			assertThat(launch.output()).containsPattern("test accuracy\\s+9[6-9]\\.\\d");
		}
	}

	/** The undisturbed job runs at the same time as the one that is stopped first. */
	@Test
	void aJobStoppedBySigtermAndThenOverHttpKeepsCheckpointsAndEndsLikeAnUndisturbedOneToTheBit() throws Exception {
		Path undisturbed = this.directory.resolve("undisturbed.json");
		Path resumed = this.directory.resolve("resumed.json");
		Path checkpoints = this.directory.resolve("checkpoints");
		try (TuttiProcess other = start(2, 12, "--report", undisturbed.toString());
				TuttiProcess launch = start(2, 12, "--checkpoint", checkpoints.toString(), "--checkpoint-every", "5")) {
			ProcessHandle rank = launch.rank(1, LIMIT);
			launch.awaitLine("epoch +1/12", LIMIT);
			TuttiProcess.signal(rank, "TERM");
			assertThat(launch.exitCode(LIMIT)).as(launch.output()).isEqualTo(79);
			assertThat(other.exitCode(LIMIT)).as(other.output()).isZero();
		}
		try (TuttiProcess launch = start(2, 12, "--checkpoint", checkpoints.toString(), "--checkpoint-every", "5")) {
			String address = launch.awaitLine("HTTP on (http://127.0.0.1:\\d+)", LIMIT).group(1);
			launch.awaitLine("epoch +[2-9]/12", LIMIT);
			assertThat(drain(address)).isEqualTo(202);
			assertThat(launch.exitCode(LIMIT)).as(launch.output()).isEqualTo(79);
		}
		try (TuttiProcess launch = start(2, 12, "--checkpoint", checkpoints.toString(), "--report",
				resumed.toString())) {
			assertThat(launch.exitCode(LIMIT)).as(launch.output()).isZero();
		}
		assertThat(hash(resumed)).isEqualTo(hash(undisturbed));
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aStopThatExceedsItsLimitEndsEveryRankWith79Too(boolean elastic) throws Exception {
		try (TuttiProcess launch = TuttiProcess.start(this.directory,
				elastic ? Map.of("TUTTI_ELASTIC_MIN_RANKS", "1") : Map.of(), "launch", "-n", "2", "train", "--epochs",
				"1000", "--tutti.timeout.drain=2s")) {
			launch.awaitLine("epoch +1/1000", LIMIT);
			ProcessHandle other = launch.rank(1, LIMIT);
			TuttiProcess.signal(other, "STOP");
			TuttiProcess.signal(launch.rank(0, LIMIT), "TERM");
			launch.awaitLine("stop requested \\((rank 0 got )?SIGTERM\\), but after 2.0 s the ranks had not", LIMIT);
			TuttiProcess.signal(other, "CONT");
			assertThat(launch.exitCode(LIMIT)).as(launch.output()).isEqualTo(79);
			assertThat(launch.output()).contains("stopped on request; every rank ended with 79");
		}
	}

	private static int drain(String address) throws Exception {
		return HttpClient.newHttpClient()
			.send(HttpRequest.newBuilder(URI.create(address + "/api/v1/control/drain"))
				.header("Content-Type", "application/json")
				.POST(HttpRequest.BodyPublishers.ofString("{\"reason\":\"maintenance\"}"))
				.build(), HttpResponse.BodyHandlers.discarding())
			.statusCode();
	}

	@Test
	void aMalformedTableIsAnErrorThatNamesLineAndColumn() throws Exception {
		Path table = Files.writeString(this.directory.resolve("table.csv"), "1,2,0\n3,oops,1\n");
		try (TuttiProcess launch = TuttiProcess.start(this.directory, "train", "--data", table.toString())) {
			assertThat(launch.exitCode(LIMIT)).as(launch.output()).isEqualTo(65);
			assertThat(launch.output()).contains("line 2").contains("column 2").doesNotContain("\tat ");
		}
	}

	@Test
	void aTrainingThatDivergesEndsWith65OnEveryRankAndSaysWhatToTry() throws Exception {
		try (TuttiProcess launch = start(2, 3, "--global-batch", "1", "--learning-rate", "1")) {
			assertThat(launch.exitCode(LIMIT)).as(launch.output()).isEqualTo(65);
			assertThat(launch.output()).containsPattern("\\[0\\] tutti: .*the training diverged")
				.containsPattern("\\[1\\] tutti: .*the training diverged")
				.contains("--learning-rate below 1.0")
				.doesNotContain("\tat ");
		}
	}

	private TuttiProcess start(int worldSize, int epochs, String... options) throws Exception {
		String[] arguments = new String[6 + options.length];
		System.arraycopy(new String[] { "launch", "-n", "" + worldSize, "train", "--epochs", "" + epochs }, 0,
				arguments, 0, 6);
		System.arraycopy(options, 0, arguments, 6, options.length);
		return TuttiProcess.start(this.directory, arguments);
	}

	private static String hash(Path report) throws Exception {
		return JsonMapper.shared().readTree(Files.readString(report)).get("parameterSha256").get(0).asString();
	}

}
