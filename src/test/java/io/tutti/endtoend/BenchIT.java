package io.tutti.endtoend;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The benchmark as a user starts it. The measured values are not checked.
 */
@Order(3)
@Timeout(240)
class BenchIT {

	private static final Duration LIMIT = Duration.ofSeconds(120);

	private static final int SIZES = 5;

	@TempDir
	Path directory;

	@Test
	void theTableHasALineForEachSizeAndNothingIsWrong() throws Exception {
		List<String> lines = bench(Map.of(), "table").filter((line) -> line.contains("all-reduce")).toList();
		assertThat(lines).hasSize(SIZES).allSatisfy((line) -> assertThat(line).endsWith(" 0"));
		assertThat(lines.getLast()).containsPattern("all-reduce +2 +1024 +256 ");
	}

	@Test
	void againstOpenMpiEverySizeHasARatio() throws Exception {
		Launcher.OPEN_MPI.require();
		requireHeader("mpicc.openmpi");
		List<String[]> rows = bench(TuttiProcess.SCALAR, "tsv", "--against", "openmpi", "--interleave", "2")
			.filter((line) -> line.contains("\t"))
			.map((line) -> line.split("\t", -1))
			.toList();
		assertThat(rows.getFirst()).hasSize(14).endsWith("rounds", "vs_openmpi", "fastest_vs_openmpi");
		assertThat(rows.stream().filter((row) -> row[0].equals("tutti"))).hasSize(SIZES)
			.allSatisfy((row) -> assertThat(Double.parseDouble(row[12])).isPositive());
		assertThat(rows.stream().filter((row) -> row[0].startsWith("openmpi-"))).hasSize(SIZES)
			.allSatisfy((row) -> assertThat(row[12]).isEmpty());
	}

	@Test
	void trainingStepsHaveALineForEachVariant() throws Exception {
		List<JsonNode> lines = launch(TuttiProcess.SCALAR, "bench", "--training", "--parameters", "0.01", "--batch",
				"4", "--format", "json")
			.filter((line) -> line.startsWith("{"))
			.map((line) -> JsonMapper.shared().readTree(line))
			.toList();
		assertThat(lines.stream().filter((line) -> line.get("system").asString().equals("tutti")))
			.extracting((line) -> line.get("communication").asString())
			.containsExactly("none", "without-overlap", "overlap", "automatic");
		assertThat(lines).allSatisfy((line) -> {
			assertThat(line.get("ranks").asInt()).isEqualTo(2);
			assertThat(line.get("parameters").asInt()).isEqualTo(10_560);
			assertThat(line.get("samplesPerSecond").asDouble()).isPositive();
			assertThat(line.get("exposedShare").asDouble()).isBetween(0.0, 1.0);
		});
	}

	@Test
	void noRankOutlivesALauncherThatWasKilled() throws Exception {
		try (TuttiProcess launch = TuttiProcess.start(this.directory, TuttiProcess.SCALAR, "launch", "-n", "2", "bench",
				"--min-bytes", "64MB", "--iterations", "1000000")) {
			List<ProcessHandle> ranks = List.of(launch.rank(0, LIMIT), launch.rank(1, LIMIT));
			launch.awaitLine("algbw and busbw", LIMIT);
			TuttiProcess.signal(launch.handle(), "KILL");
			try {
				Awaitility.await().atMost(LIMIT).until(() -> ranks.stream().noneMatch(ProcessHandle::isAlive));
			}
			finally {
				ranks.forEach(ProcessHandle::destroyForcibly);
			}
		}
	}

	private Stream<String> bench(Map<String, String> environment, String format, String... more) throws Exception {
		return launch(environment,
				Stream
					.concat(Stream.of("bench", "--collective", "all-reduce", "--max-bytes", "1KB", "--iterations", "20",
							"--format", format), Arrays.stream(more))
					.toArray(String[]::new));
	}

	private Stream<String> launch(Map<String, String> environment, String... command) throws Exception {
		String[] arguments = Stream.concat(Stream.of("launch", "-n", "2"), Arrays.stream(command))
			.toArray(String[]::new);
		try (TuttiProcess launch = TuttiProcess.start(this.directory, environment, arguments)) {
			assertThat(launch.exitCode(LIMIT)).as(launch.output()).isZero();
			return launch.output().lines();
		}
	}

	/**
	 * Skips the test without the MPI header: some distributions package it separately
	 * from the compiler wrapper.
	 */
	private void requireHeader(String compiler) throws Exception {
		Path source = Files.writeString(this.directory.resolve("header.c"), "#include <mpi.h>\n");
		Process preprocessor = new ProcessBuilder(compiler, "-E", source.toString())
			.redirectOutput(ProcessBuilder.Redirect.DISCARD)
			.redirectError(ProcessBuilder.Redirect.DISCARD)
			.start();
		try {
			boolean found = preprocessor.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS) && preprocessor.exitValue() == 0;
			Launcher.require(found, compiler + " finds no mpi.h: the development package of Open MPI is not installed");
		}
		finally {
			preprocessor.destroyForcibly();
		}
	}

}
