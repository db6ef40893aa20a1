package io.tutti.endtoend;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.tutti.FreePort;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Ranks under each launcher, started by the script as a user does. The launcher relays
 * the ranks' output. A shell in between lets one start run several commands and shows the
 * test which process is which rank.
 * <p>
 * A start of two ranks takes seconds, and every command that forms a group starts in the
 * same way. So each launcher serves on one backend and trains on the other, of two
 * similar launchers (the two of Slurm, the two of torchrun) each the other way round, and
 * two of them run the remaining commands. Scalar kernels start faster; {@link BenchIT}
 * measures with vector kernels.
 */
@Order(4)
@Timeout(400)
class LaunchersIT {

	/** Limit for several starts under one launcher on a busy machine. */
	private static final Duration LIMIT = Duration.ofSeconds(300);

	/**
	 * Limit for the end of ranks and launcher. A rank may take 4 s until it halts itself,
	 * and a busy machine makes that several times longer.
	 */
	private static final Duration END = Duration.ofSeconds(40);

	private static final int RANKS = 2;

	private static final String ENV = "\"$TUTTI\" env --json";

	private static final int SIZES = 3;

	private static final String TRAIN_FOR_LONG = "train --epochs 50000";

	private final HttpClient client = HttpClient.newHttpClient();

	@TempDir
	Path directory;

	/** Slurm's ranks are not children of the test process and outlive a killed srun. */
	@AfterEach
	void endRanks() throws IOException {
		try (Stream<Path> files = Files.list(this.directory)) {
			files.filter((file) -> file.getFileName().toString().startsWith("pid-"))
				.flatMap((file) -> processIn(file).stream())
				.forEach(ProcessHandle::destroyForcibly);
		}
	}

	/**
	 * The expected exit code and output differ, since each launcher reports a lost rank
	 * in its own way.
	 */
	@ParameterizedTest
	@CsvSource(delimiter = '|', quoteCharacter = '"', textBlock = """
			OPEN_MPI | 137 | process rank 1 .* signal 9
			HYDRA    | 9   | EXIT CODE: 9
			SLURM    | 137 | rank 0: group world: rank 1 lost
			TORCHRUN | 1   | rank +: 1 .local_rank: 1
			""")
	void ranksServeAndTrainAndAKilledOneEndsTheJob(Launcher launcher, int exitCode, String said) throws Exception {
		launcher.require();
		int port = FreePort.next();
		try (TuttiProcess ranks = start(launcher, serve("mpi", port), "exec " + with("tcp", TRAIN_FOR_LONG))) {
			awaitReady(ranks, port);
			assertEveryRankExplained(launcher, explainedOverHttp(port));
			drain(port);
			ranks.awaitLine("epoch +1/50000", LIMIT);
			assertThat(backends(ranks)).containsExactly("mpi", "tcp");
			ProcessHandle other = rank(0);
			TuttiProcess.signal(rank(1), "KILL");
			assertThat(ranks.exitCode(END)).as(ranks.output()).isEqualTo(exitCode);
			assertThat(ranks.output()).containsPattern(said);
			Awaitility.await().atMost(END).until(() -> !runs(other));
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "SLURM_PMI2", "TORCHRUN_STANDALONE" })
	void ranksTrainAndServeAndNoneOutlivesItsLauncher(Launcher launcher) throws Exception {
		launcher.require();
		int port = FreePort.next();
		try (TuttiProcess ranks = start(launcher, with("mpi", "train --epochs 1 --report report.json"),
				"exec " + serve("tcp", port))) {
			awaitReady(ranks, port);
			assertEveryRankExplained(launcher, explainedOverHttp(port));
			assertTrained(ranks, "mpi");
			assertThat(backends(ranks)).containsExactly("mpi", "tcp");
			assertRanksEndWith(ranks);
		}
	}

	/** Training on this backend is covered by the training tests. */
	@Test
	void ourOwnLauncherServesOnTheMpiBackendTooAndEveryRankSaysTheSameOfItself() throws Exception {
		int port = FreePort.next();
		try (TuttiProcess ranks = start(Launcher.OWN, ENV, "exec " + serve("mpi", port))) {
			awaitReady(ranks, port);
			List<JsonNode> explained = explainedOverHttp(port);
			assertEveryRankExplained(Launcher.OWN, explained);
			assertThat(explainedByEnv(ranks)).containsExactlyInAnyOrderElementsOf(explained);
			assertThat(backends(ranks)).containsExactly("mpi");
			assertRanksEndWith(ranks);
		}
	}

	@ParameterizedTest
	@CsvSource({ "HYDRA, mpi", "SLURM, tcp" })
	void ranksExplainThemselvesAndMeasure(Launcher launcher, String backend) throws Exception {
		launcher.require();
		try (TuttiProcess ranks = start(launcher, ENV,
				"exec " + with(backend, "bench --max-bytes 64 --iterations 20 --format json"))) {
			assertThat(ranks.exitCode(LIMIT)).as(ranks.output()).isZero();
			assertEveryRankExplained(launcher, explainedByEnv(ranks));
			assertThat(json(ranks, "\"wrong\":")).hasSize(SIZES).allSatisfy((size) -> {
				assertThat(size.get("wrong").asLong(-1)).isZero();
				assertThat(size.get("ranks").asInt()).isEqualTo(RANKS);
				assertThat(size.get("p50Us").asDouble()).isPositive();
			});
			assertThat(backends(ranks)).containsExactly(backend);
		}
	}

	/**
	 * Once MPICH's mpiexec has passed on a signal, it counts the codes of ranks whose end
	 * it sees only after their output has ended as 0.
	 */
	@ParameterizedTest
	@EnumSource(names = { "HYDRA", "OWN" })
	void aJobWhoseLauncherIsToldToStopEndsWith79AndKeepsACheckpoint(Launcher launcher) throws Exception {
		launcher.require();
		try (TuttiProcess ranks = TuttiProcess.run(this.directory, Map.of("SPRING_PROFILES_ACTIVE", "mpi"), launcher
			.command(RANKS, Launcher.script(), "train", "--epochs", "50000", "--checkpoint", "checkpoints"))) {
			ranks.awaitLine("epoch +1/50000", LIMIT);
			TuttiProcess.signal(ranks.handle(), "TERM");
			int code = ranks.exitCode(END);
			if (launcher != Launcher.HYDRA || code != 0) {
				assertThat(code).as(ranks.output()).isEqualTo(79);
			}
			assertThat(backends(ranks)).containsExactly("mpi");
			assertThat(ranks.output())
				.containsPattern("stopping after step \\d+: (rank \\d got SIGTERM|another rank asked to stop)")
				.containsOnlyOnce("stopped after ");
			assertThat(this.directory.resolve("checkpoints")).isDirectoryContaining("glob:**/step-*");
			if (launcher == Launcher.OWN) {
				assertThat(ranks.output()).contains("tutti launch: stopped on request; every rank ended with 79");
			}
		}
	}

	/** mpirun gives ranks one second, which may be too short for a checkpoint. */
	@Test
	void noRankOutlivesAnMpirunThatIsToldToStop() throws Exception {
		Launcher.OPEN_MPI.require();
		try (TuttiProcess ranks = start(Launcher.OPEN_MPI, "exec " + with("mpi", TRAIN_FOR_LONG))) {
			ranks.awaitLine("epoch +1/50000", LIMIT);
			assertRanksEndWith(ranks);
		}
	}

	private void assertRanksEndWith(TuttiProcess launcher) throws Exception {
		List<ProcessHandle> all = List.of(rank(0), rank(1));
		TuttiProcess.signal(launcher.handle(), "TERM");
		launcher.exitCode(END);
		Awaitility.await().atMost(END).until(() -> all.stream().noneMatch(LaunchersIT::runs));
	}

	private List<JsonNode> explainedOverHttp(int port) throws Exception {
		List<JsonNode> explained = new ArrayList<>();
		for (int rank = 0; rank < RANKS; rank++) {
			explained.add(JsonMapper.shared().readTree(get(port + rank, "/actuator/rank").body()));
		}
		return explained;
	}

	private static List<JsonNode> explainedByEnv(TuttiProcess ranks) {
		return json(ranks, "\"localRank\":");
	}

	private static void assertEveryRankExplained(Launcher launcher, List<JsonNode> explained) {
		assertThat(explained).extracting((json) -> json.get("rank").asInt()).containsExactlyInAnyOrder(0, 1);
		assertThat(explained).allSatisfy((json) -> {
			assertThat(json.get("source").asString()).isEqualTo(launcher.source());
			assertThat(json.get("worldSize").asInt()).isEqualTo(RANKS);
			assertThat(json.get("localRank")).isEqualTo(json.get("rank"));
			assertThat(json.get("localWorldSize").asInt()).isEqualTo(RANKS);
			assertThat(json.get("conflicts")).isEmpty();
		});
	}

	private void assertTrained(TuttiProcess ranks, String backend) throws Exception {
		JsonNode report = JsonMapper.shared().readTree(Files.readString(this.directory.resolve("report.json")));
		assertThat(report.get("worldSize").asInt()).isEqualTo(RANKS);
		assertThat(report.get("backend").asString()).isEqualTo(backend);
		assertThat(report.get("parameterSha256").get(0)).isEqualTo(report.get("parameterSha256").get(1));
		assertThat(ranks.output()).containsOnlyOnce("the same on every rank").doesNotContain("\r");
	}

	/** The backends of rank 0's groups, in order. */
	private static List<String> backends(TuttiProcess ranks) {
		return Pattern.compile("rank 0: joined the group: rank 0 of 2, backend (\\w+) over")
			.matcher(ranks.output())
			.results()
			.map((line) -> line.group(1))
			.toList();
	}

	/** The JSON objects in the output that have a key, each on a line of its own. */
	private static List<JsonNode> json(TuttiProcess ranks, String key) {
		return ranks.output()
			.lines()
			.filter((line) -> line.contains(key))
			.map((line) -> JsonMapper.shared().readTree(line.replaceFirst("^\\[\\d\\] ", "")))
			.toList();
	}

	private TuttiProcess start(Launcher launcher, String... commands) throws Exception {
		Path script = Files.writeString(this.directory.resolve("rank.sh"),
				"set -e\necho $$ > \"pid-$" + launcher.rankVariable() + "\"\n" + String.join("\n", commands) + "\n");
		return TuttiProcess.run(this.directory, Map.of("TUTTI", Launcher.script(), "TUTTI_VECTORS", "false"),
				launcher.command(RANKS, "sh", script.toString()));
	}

	/** A line of a rank's script. */
	private static String with(String backend, String command) {
		return "env SPRING_PROFILES_ACTIVE=" + backend + " \"$TUTTI\" " + command;
	}

	private static String serve(String backend, int port) {
		return with(backend, "serve --http-port " + port);
	}

	/** The process of a rank, which replaced the shell's process. */
	private ProcessHandle rank(int rank) {
		return processIn(this.directory.resolve("pid-" + rank)).orElseThrow();
	}

	/**
	 * The process whose id a rank wrote to a file, unless another process has reused the
	 * id.
	 */
	private Optional<ProcessHandle> processIn(Path file) {
		try {
			long pid = Long.parseLong(Files.readString(file).strip());
			boolean ours = Path.of("/proc", Long.toString(pid), "cwd").toRealPath().equals(this.directory.toRealPath());
			return ours ? ProcessHandle.of(pid) : Optional.empty();
		}
		catch (IOException ex) {
			return Optional.empty();
		}
	}

	/** A zombie that its launcher has not reaped yet counts as ended. */
	private static boolean runs(ProcessHandle process) {
		return process.isAlive() && !process.info().command().isEmpty();
	}

	private void awaitReady(TuttiProcess ranks, int port) {
		for (int rank = 0; rank < RANKS; rank++) {
			int self = port + rank;
			Awaitility.await()
				.atMost(LIMIT)
				.ignoreExceptions()
				.failFast(() -> assertThat(ranks.handle().isAlive()).as(ranks.output()).isTrue())
				.until(() -> get(self, "/actuator/health/readiness").statusCode() == 200);
		}
	}

	/** Ends {@code serve} on every rank by a drain request to one rank. */
	private void drain(int port) throws Exception {
		HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/api/v1/control/drain"))
			.header("Content-Type", "application/json")
			.POST(HttpRequest.BodyPublishers.ofString("{\"reason\":\"enough\"}"))
			.build();
		assertThat(this.client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode()).isEqualTo(202);
	}

	private HttpResponse<String> get(int port, String path) throws Exception {
		return this.client.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build(),
				HttpResponse.BodyHandlers.ofString());
	}

}
