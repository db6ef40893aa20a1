package io.tutti.endtoend;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.tutti.FreePort;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Ranks with an empty home folder, so that JavaCPP's cache of native libraries is empty.
 */
@Order(3)
@Timeout(600)
class ColdStartIT {

	private static final Duration LIMIT = Duration.ofSeconds(240);

	private static final int RANKS = 2;

	private static final String LARGEST_LIBRARY = "libtorch_cpu.so";

	@TempDir
	private Path directory;

	private Path home;

	@BeforeEach
	void makeAnEmptyHome() throws IOException {
		this.home = Files.createDirectory(this.directory.resolve("home"));
	}

	@Test
	void launchedRanksOfTheLayoutUnpackNothing() throws Exception {
		List<String> command = List.of(Launcher.script(), "launch", "-n", "" + RANKS, "train", "--epochs", "1");
		String flags = String.join(" ", TuttiProcess.shortLived()) + " -Duser.home=" + this.home;
		try (TuttiProcess launch = start(command, Map.of("TUTTI_JAVA_OPTS", flags))) {
			assertThat(launch.exitCode(LIMIT)).as(launch.output()).isZero();
		}
		assertThat(this.home).isEmptyDirectory();
	}

	/** Its libraries are in jars inside the jar. */
	@Test
	void aRankOfTheJarUnpacksOnce() throws Exception {
		try (TuttiProcess rank = start(jar("train", "--epochs", "1"))) {
			assertThat(rank.exitCode(LIMIT)).as(rank.output()).isZero();
		}
		assertThat(foldersWithLargestLibrary()).hasSize(1);
	}

	@Test
	void ranksOfAUsersOwnProgramUnpackOnce() throws Exception {
		assertThat(allTogether(library())).allMatch((output) -> output.contains("a step was taken on rank"));
		assertThat(foldersWithLargestLibrary()).hasSize(1);
	}

	@Test
	void aProcessKilledWhileItUnpacksLeavesNothingThatTheNextWouldLoad() throws Exception {
		List<String> command = library();
		try (TuttiProcess killed = start(command)) {
			Awaitility.await()
				.atMost(LIMIT)
				.pollInterval(Duration.ofMillis(1))
				.until(() -> !foldersWithLargestLibrary().isEmpty());
			TuttiProcess.signal(killed.handle(), "KILL");
			assertThat(killed.exitCode(LIMIT)).isEqualTo(137);
		}
		assertThat(foldersWithLargestLibrary()).singleElement().asString().endsWith(".partial");
		try (TuttiProcess next = start(command)) {
			assertThat(next.exitCode(LIMIT)).as(next.output()).isZero();
		}
		assertThat(foldersWithLargestLibrary()).singleElement().asString().doesNotEndWith(".partial");
	}

	@Test
	void aHomeThatCannotBeWrittenIsAnErrorThatNamesTheSetting() throws Exception {
		assertRefused("ro,size=1m", "Read-only file system");
	}

	@Test
	void aFullDiskIsAnErrorThatNamesTheSetting() throws Exception {
		assertRefused("size=64m", "No space left on device");
	}

	private void assertRefused(String mountOptions, String problem) throws Exception {
		List<String> command = withHomeMounted(mountOptions, List.of("true"));
		Process probe = new ProcessBuilder(command).redirectErrorStream(true).start();
		String answer = new String(probe.getInputStream().readAllBytes());
		Assumptions.assumeTrue(probe.waitFor(20, TimeUnit.SECONDS) && probe.exitValue() == 0,
				"no file system can be mounted for one process here: " + answer);
		try (TuttiProcess rank = start(withHomeMounted(mountOptions, jar("train")))) {
			assertThat(rank.exitCode(LIMIT)).as(rank.output()).isEqualTo(64);
			assertThat(rank.output()).contains(this.home.resolve(".javacpp/cache").toString(), problem,
					"-Dorg.bytedeco.javacpp.cachedir=");
		}
	}

	/** Runs in a mount namespace of its own, which ends with the process. */
	private List<String> withHomeMounted(String options, List<String> command) {
		boolean root = System.getProperty("user.name").equals("root");
		List<String> words = new ArrayList<>(List.of("unshare", root ? "-m" : "-rm", "sh", "-c",
				"mount -t tmpfs -o " + options + " tmpfs \"$0\" && exec \"$@\"", this.home.toString()));
		words.addAll(command);
		return words;
	}

	/** Starts all ranks at once with Open MPI's variables and returns their outputs. */
	private List<String> allTogether(List<String> command) throws Exception {
		int port = FreePort.next();
		List<TuttiProcess> ranks = new ArrayList<>();
		try {
			for (int rank = 0; rank < RANKS; rank++) {
				ranks.add(start(command,
						Map.of("OMPI_COMM_WORLD_RANK", "" + rank, "OMPI_COMM_WORLD_SIZE", "" + RANKS,
								"OMPI_COMM_WORLD_LOCAL_RANK", "" + rank, "OMPI_COMM_WORLD_LOCAL_SIZE", "" + RANKS,
								"MASTER_ADDR", "127.0.0.1", "MASTER_PORT", "" + port)));
			}
			List<String> outputs = new ArrayList<>();
			for (TuttiProcess rank : ranks) {
				assertThat(rank.exitCode(LIMIT)).as(rank.output()).isZero();
				outputs.add(rank.output());
			}
			return outputs;
		}
		finally {
			ranks.forEach(TuttiProcess::close);
		}
	}

	private TuttiProcess start(List<String> command) throws IOException {
		return start(command, Map.of());
	}

	private TuttiProcess start(List<String> command, Map<String, String> variables) throws IOException {
		Map<String, String> environment = new HashMap<>(variables);
		environment.put("HOME", this.home.toString());
		return TuttiProcess.run(this.directory, environment, command);
	}

	private List<String> java() {
		List<String> command = TuttiProcess.java();
		command.addAll(List.of("-Duser.home=" + this.home, "-XX:-CreateCoredumpOnCrash",
				"-XX:ErrorFile=" + this.directory.resolve("crash.log")));
		return command;
	}

	/** A user's own program. */
	private List<String> library() {
		List<String> command = java();
		command.addAll(List.of("-cp", libraryClassPath(), LibTorchProgram.class.getName()));
		return command;
	}

	/** The program in one jar with its libraries. */
	private List<String> jar(String... arguments) {
		List<String> command = java();
		command.addAll(List.of("-jar", System.getProperty("tutti.boot-jar")));
		command.addAll(List.of(arguments));
		return command;
	}

	/** The plain jar, the presets with their native libraries, and the program. */
	private static String libraryClassPath() {
		Stream<String> others = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
			.filter((entry) -> entry.contains("bytedeco") || entry.contains("jspecify")
					|| entry.endsWith("test-classes"));
		return Stream.concat(Stream.of(System.getProperty("tutti.library")), others)
			.collect(Collectors.joining(File.pathSeparator));
	}

	/** The largest native library below the home folder, complete or partial. */
	private List<Path> foldersWithLargestLibrary() throws IOException {
		try (Stream<Path> files = Files.find(this.home, Integer.MAX_VALUE,
				(file, attributes) -> file.endsWith(LARGEST_LIBRARY))) {
			return files.map(Path::getParent).toList();
		}
		catch (java.io.UncheckedIOException ex) {
			// A folder was renamed while it was being read.
			return List.of();
		}
	}

}
