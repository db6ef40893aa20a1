package io.tutti.training.job;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.tutti.TestJvm;
import io.tutti.launch.ElasticRanks;
import io.tutti.launch.LaunchConsole;
import io.tutti.launch.LaunchPlan;
import io.tutti.launch.LaunchTimings;
import io.tutti.launch.LaunchedCommand;
import io.tutti.launch.LocalLauncher;
import io.tutti.launch.TuttiProgram;
import io.tutti.training.BatchSchedule;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Training continues without ranks that are killed. Each rank is a process under the
 * launcher.
 */
@Order(2)
@Timeout(180)
class ElasticTrainingTest {

	private static final int SAMPLES = 1437;

	/** Epochs of 45 steps. */
	private static final int STEPS = 45 * ElasticTrainingRank.EPOCHS;

	/**
	 * A rank that has not seen the last message of the others waits for 2 s, in which it
	 * must not get SIGTERM.
	 */
	private static final LaunchTimings TIMINGS = new LaunchTimings(Duration.ofSeconds(5), Duration.ofSeconds(2),
			Duration.ofSeconds(5), Duration.ofSeconds(5), Duration.ofSeconds(5), Duration.ofSeconds(10));

	@TempDir
	private static Path undisturbed;

	@TempDir
	private Path directory;

	private final ByteArrayOutputStream out = new ByteArrayOutputStream();

	private final ByteArrayOutputStream err = new ByteArrayOutputStream();

	@BeforeAll
	static void trainUndisturbed() throws Exception {
		ElasticTrainingTest test = new ElasticTrainingTest();
		assertThat(test.train(undisturbed, 1, 0, false)).as(test.output()).isZero();
		assertThat(summary(undisturbed, 0)[1]).isEqualTo("0");
	}

	@Test
	void trainingEndsWithTheSameParametersWithoutTheRanksThatWereKilled() throws Exception {
		int code = train(this.directory, 3, 0, false, "1:before:1", "0:within:20");
		assertThat(code).as(output()).isZero();
		assertThat(summary(this.directory, 2)[1]).as(output()).isEqualTo("2");
		assertThat(summary(this.directory, 2)[3]).isEqualTo("1");
		assertThat(Long.parseLong(summary(this.directory, 2)[4])).as("bytes of all generations")
			.isGreaterThanOrEqualTo(Long.parseLong(summary(undisturbed, 0)[4]));
		requireUndisturbedResult(2);
	}

	@Test
	void killedRanksRejoinAlsoInACheckpointAndAtTheLastStep() throws Exception {
		int code = train(this.directory, 4, 9, true, "0:before:1", "0:checkpoint:30", "2:after:61", "0:before:" + STEPS,
				"3:before:" + STEPS);
		assertThat(code).as(output()).isZero();
		assertThat(summary(this.directory, 1)[3]).as(output()).isEqualTo("2");
		assertThat(this.err.toString(StandardCharsets.UTF_8)).as("restarts; the last rank may end after the job")
			.contains("(4 of 9)");
		requireUndisturbedResult(1, 2);
		assertThat(this.err.toString(StandardCharsets.UTF_8)).contains("rank 0 ended with 137", "rank 2 ended with 137",
				"rank 3 ended with 137", "of the end of the job: sending SIGTERM");
	}

	@Test
	void aStoppedRankZeroNeitherKeepsTheOthersFromWritingCheckpointsNorWritesWhenItResumes() throws Exception {
		int code = train(this.directory, 3, 0, true, "0:stop:25", "1:resume:45");
		assertThat(code).as(output()).isZero();
		assertThat(summary(this.directory, 0)[3]).as(output()).isEqualTo("3");
		requireUndisturbedResult(0, 1, 2);
		assertThat(summary(this.directory, 1)[2]).as("repeated steps").isEqualTo("1");
		assertThat(summary(this.directory, 0)[2]).as("of the job, also those before it joined").isEqualTo("1");
		assertThat(summary(this.directory, 0)[1]).as("generations after the first, also those before it joined")
			.isEqualTo(summary(this.directory, 1)[1])
			.isNotEqualTo("1");
		try (Stream<Path> all = Files.list(this.directory.resolve("checkpoints"))) {
			assertThat(all.map((file) -> file.getFileName().toString()).filter((name) -> !name.startsWith(".claim")))
				.containsExactlyInAnyOrder(".lock", "step-00000080", "step-00000090");
		}
	}

	private void requireUndisturbedResult(int... slots) throws IOException {
		for (int slot : slots) {
			assertThat(this.directory.resolve("summary-" + slot)).as(output()).exists();
			assertThat(summary(this.directory, slot)[0]).isEqualTo(summary(this.directory, slots[0])[0]);
			assertThat(distance(parameters(undisturbed, 0), parameters(this.directory, slot))).isLessThan(1e-3);
		}
		requireEachSampleOnce();
	}

	/** The last generation in which a step was begun has completed it. */
	private void requireEachSampleOnce() throws IOException {
		Map<Integer, TreeMap<Integer, List<Integer>>> used = new TreeMap<>();
		for (Path file : files("samples-")) {
			for (String line : Files.readAllLines(file)) {
				String[] words = line.split(" ");
				used.computeIfAbsent(Integer.valueOf(words[0]), (step) -> new TreeMap<>())
					.computeIfAbsent(Integer.valueOf(words[1]), (generation) -> new ArrayList<>())
					.addAll(indices(words[3]));
			}
		}
		assertThat(used).hasSize(STEPS);
		BatchSchedule schedule = new BatchSchedule(SAMPLES, ElasticTrainingRank.GLOBAL_BATCH, 1, 42);
		used.forEach((step, byGeneration) -> {
			int epoch = (step - 1) / schedule.stepsPerEpoch();
			int[] batch = schedule.samples(schedule.order(epoch), (step - 1) % schedule.stepsPerEpoch(), 0);
			assertThat(byGeneration.lastEntry().getValue()).as("step %d", step)
				.containsExactlyInAnyOrderElementsOf(IntStream.of(batch).boxed().toList());
		});
	}

	private static List<Integer> indices(String list) {
		return Stream.of(list.substring(1, list.length() - 1).split(","))
			.filter((word) -> !word.isEmpty())
			.map(Integer::valueOf)
			.toList();
	}

	private List<Path> files(String prefix) throws IOException {
		try (Stream<Path> all = Files.list(this.directory)) {
			return all.filter((file) -> file.getFileName().toString().startsWith(prefix)).toList();
		}
	}

	private static String[] summary(Path directory, int slot) throws IOException {
		return Files.readString(directory.resolve("summary-" + slot)).split(" ");
	}

	private static FloatBuffer parameters(Path directory, int slot) throws IOException {
		return ByteBuffer.wrap(Files.readAllBytes(directory.resolve("parameters-" + slot)))
			.order(ByteOrder.LITTLE_ENDIAN)
			.asFloatBuffer();
	}

	/** ‖b − a‖ / ‖a‖. */
	private static double distance(FloatBuffer a, FloatBuffer b) {
		assertThat(b.remaining()).isEqualTo(a.remaining()).isPositive();
		double difference = 0;
		double norm = 0;
		for (int index = 0; index < a.remaining(); index++) {
			difference += Math.pow(b.get(index) - a.get(index), 2);
			norm += Math.pow(a.get(index), 2);
		}
		return Math.sqrt(difference / norm);
	}

	private int train(Path target, int ranks, int maxRestarts, boolean rejoins, String... kills) throws Exception {
		List<String> words = TestJvm.command(List.of("--add-opens", "java.base/sun.nio.ch=ALL-UNNAMED"),
				ElasticTrainingRank.class, target, rejoins);
		words.addAll(List.of(kills));
		LaunchPlan plan = new LaunchPlan(LaunchedCommand.of(words, new TuttiProgram(List.of())), ranks, 1, 0,
				"127.0.0.1", null, maxRestarts, new ElasticRanks(1, ranks, List.of()),
				Map.of("TUTTI_TIMEOUT_HEARTBEAT", "4s", "TUTTI_TIMEOUT_ABORT", "2s"));
		return new LocalLauncher(plan, TIMINGS, new LaunchConsole(this.out, false, this.err, false)).run();
	}

	private String output() {
		return this.out.toString(StandardCharsets.UTF_8) + this.err.toString(StandardCharsets.UTF_8);
	}

}
