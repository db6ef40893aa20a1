package io.tutti.launch;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

/**
 * The script {@code ./tutti} in a checkout whose build and JDK are replaced by small
 * scripts.
 */
@Timeout(60)
class ScriptTest {

	/**
	 * A fake Java that records a cache if told to, and launches rank 0 of a rehearsal.
	 */
	private static final String RECORDS = """
			script=
			for word; do
			  case $word in
			    -Dtutti.script=*) script=${word#*=} ;;
			  esac
			done
			for word; do
			  case $word in
			    -XX:AOTCacheOutput=*)
			      name=${word##*/}; name=${name#*-}
			      echo "${name%%.*} rank=${RANK:-} launched=${OMPI_COMM_WORLD_RANK:-}${TUTTI_RANK:-}" \\
			        >> "${script%/*}/recorded"
			      echo cache > "${word#*=}" ;;
			  esac
			done
			case "${RANK:-none} $*" in "none "*"launch -n 2 rehearse") RANK=0 "$script" rehearse ;; esac
			exec printf '%s\\n' "$@\"""";

	@TempDir
	private Path directory;

	private Path checkout;

	/** What the script is run with, such as another user. */
	private List<String> runner = List.of("env", "--default-signal=INT");

	@BeforeEach
	void layOutACheckout() throws IOException {
		this.checkout = Files.createDirectory(this.directory.resolve("check out"));
		Files.copy(Path.of("tutti"), this.checkout.resolve("tutti"));
		script(this.checkout.resolve("mvnw"), """
				echo "built by $JAVA_HOME"
				echo once >> builds
				sleep 0.3
				mkdir -p target/app
				echo jar > target/tutti.jar
				cp target/tutti.jar target/app
				touch target/app""");
		jdk("new", "25.0.1", "exec printf '%s\\n' \"$@\"");
		jdk("old", "17.0.9", "echo the old one ran");
	}

	@Test
	void theFirstUseBuildsAndReportsItOnStandardError() throws Exception {
		Started started = start("new", "out", "", "env", "--json", "two words");
		assertThat(started.exitCode()).isZero();
		assertThat(started.out()).containsSubsequence("--enable-native-access=ALL-UNNAMED", "--add-opens",
				"java.base/sun.nio.ch=ALL-UNNAMED", "-jar", this.checkout.resolve("target/app/tutti.jar").toString(),
				"env", "--json", "two words");
		assertThat(started.err()).anyMatch((line) -> line.contains("building"))
			.contains("built by " + this.directory.resolve("new"));
	}

	@ParameterizedTest
	@CsvSource({ "bench --factor 2, , true, false", "train --epochs 3, , false, true",
			"train --data=x.csv, , true, false", "serve, , false, false", "--http-port 9000, , false, false",
			"serve, true, true, false", "train, true, true, false", "bench, false, false, false",
			"bench --help, , false, true", "train --data x --version, , false, true", "trian --data x, , false, true" })
	void aCommandGetsTheKernelsAndCompilersThatPayOff(String words, String setting, boolean vectors,
			boolean firstTierOnly) throws Exception {
		Started started = start("new", "out", Map.of("TUTTI_VECTORS", (setting != null) ? setting : ""),
				words.split(" "));
		assertThat(started.exitCode()).isZero();
		assertThat(started.out().contains("jdk.incubator.vector")).isEqualTo(vectors);
		assertThat(started.out().contains("-XX:TieredStopAtLevel=1")).isEqualTo(firstTierOnly);
	}

	@Test
	void theKernelSettingIsValidated() throws Exception {
		Started started = start("new", "out", Map.of("TUTTI_VECTORS", "yes"), "bench");
		assertThat(started.exitCode()).isEqualTo(64);
		assertThat(started.err()).last().isEqualTo("tutti: TUTTI_VECTORS must be true or false, got 'yes'");
	}

	/** As the build does before its integration tests. */
	@Test
	void aRehearsalOutsideARecordingOnlyRecords() throws Exception {
		jdk("new", "25.0.1", RECORDS);
		Started first = start("new", "first", Map.of("TUTTI_VECTORS", "true"), "rehearse");
		assertThat(first.exitCode()).isZero();
		assertThat(Files.exists(cache("vector"))).isTrue();
		assertThat(first.out()).isEmpty();
	}

	@Test
	void aRehearsalWhoseRecordingFailedFails() throws Exception {
		jdk("new", "25.0.1", "exit 1");
		assertThat(start("new", "first", Map.of("TUTTI_VECTORS", "false"), "rehearse").exitCode()).isEqualTo(1);
	}

	@Test
	void ranksThatStartAtOnceRecordOneCacheAndUseIt() throws Exception {
		jdk("new", "25.0.1", RECORDS);
		assertThat(start("new", "build", "", "--version").exitCode()).isZero();
		List<Started> ranks = new ArrayList<>();
		for (int rank = 0; rank < 3; rank++) {
			ranks.add(
					start("new", "rank" + rank, Map.of("OMPI_COMM_WORLD_RANK", "" + rank, "TUTTI_RANK", "7"), "serve"));
		}
		for (Started rank : ranks) {
			assertThat(rank.exitCode()).isZero();
			assertThat(rank.out()).contains("-XX:AOTCache=" + cache("scalar"));
		}
		assertThat(this.checkout.resolve("recorded")).content()
			.isEqualTo("launcher rank= launched=\nscalar rank=0 launched=\n");
		assertThat(cache("launcher")).exists();
		try (Stream<Path> files = Files.list(cache("scalar").getParent())) {
			assertThat(files.map((file) -> file.getFileName().toString())).filteredOn((name) -> !name.endsWith(".aot"))
				.containsExactlyInAnyOrder(".launcher.lock", ".scalar.lock");
		}
	}

	/** A JVM that is asked to end may write its cache first. */
	@ParameterizedTest
	@CsvSource({ "TERM, 143", "INT, 130" })
	void aStopDuringARecordingEndsItAndLeavesNothing(String signal, int exitCode) throws Exception {
		assertThat(start("new", "build", "", "--version").exitCode()).isZero();
		jdk("new", "25.0.1", RECORDS.replace("echo cache > \"${word#*=}\" ;;",
				"echo cache > \"${word#*=}\"; trap '' TERM; echo $$ > \"${script%/*}/recorder\"; exec sleep 100 ;;"));
		Path recorder = this.checkout.resolve("recorder");
		Started stopped = start("new", "stopped", "", "serve");
		await().atMost(Duration.ofSeconds(20))
			.until(() -> Files.exists(recorder) && !Files.readString(recorder).isBlank());
		new ProcessBuilder("kill", "-" + signal, "" + stopped.process().pid()).start().waitFor();
		assertThat(stopped.exitCode()).isEqualTo(exitCode);
		Path command = Path.of("/proc", Files.readString(recorder).strip(), "cmdline");
		await().atMost(Duration.ofSeconds(10))
			.until(() -> !Files.exists(command) || Files.readString(command).isEmpty());
		try (Stream<Path> files = Files.list(cache("scalar").getParent())) {
			assertThat(files.map((file) -> file.getFileName().toString())).containsExactlyInAnyOrder(".launcher.lock",
					".scalar.lock", cache("launcher").getFileName() + ".failed");
		}
		jdk("new", "25.0.1", RECORDS);
		assertThat(start("new", "next", "", "serve").out("-XX:AOTCache=")).isEqualTo(cache("scalar").toString());
	}

	@ParameterizedTest
	@CsvSource({ "TERM, 143", "INT, 130" })
	void aStopDuringTheBuildEndsItAndReleasesTheLock(String signal, int exitCode) throws Exception {
		Path maven = this.checkout.resolve("maven");
		String builds = Files.readString(this.checkout.resolve("mvnw"));
		script(this.checkout.resolve("mvnw"), "echo $$ > maven; exec sleep 100");
		Started stopped = start("new", "stopped", "", "env");
		await().atMost(Duration.ofSeconds(20)).until(() -> Files.exists(maven) && !Files.readString(maven).isBlank());
		new ProcessBuilder("kill", "-" + signal, "" + stopped.process().pid()).start().waitFor();
		assertThat(stopped.exitCode()).isEqualTo(exitCode);
		assertThat(stopped.err()).noneMatch((line) -> line.contains("the build failed"));
		Path command = Path.of("/proc", Files.readString(maven).strip(), "cmdline");
		await().atMost(Duration.ofSeconds(10))
			.until(() -> !Files.exists(command) || Files.readString(command).isEmpty());
		script(this.checkout.resolve("mvnw"), builds);
		assertThat(start("new", "next", "", "env").exitCode()).isZero();
		try (Stream<Path> files = Files.list(this.checkout.resolve("target"))) {
			assertThat(files.map((file) -> file.getFileName().toString())).containsExactlyInAnyOrder("app", "tutti.jar",
					".tutti-build.lock");
		}
	}

	@Test
	void anotherJdkAndAnotherBuildRecordTheirOwnCaches() throws Exception {
		jdk("new", "25.0.1", RECORDS);
		jdk("newer", "26.0.1", RECORDS);
		assertThat(start("new", "first", "", "env").out("-XX:AOTCache=")).isEqualTo(cache("launcher").toString());
		String other = start("newer", "second", "", "env").out("-XX:AOTCache=");
		assertThat(other).isNotEqualTo(cache("launcher").toString());
		Files.move(this.checkout.resolve("target/app"), this.checkout.resolve("target/app-1"));
		Files.createDirectories(this.checkout.resolve("target/app-2"));
		Files.copy(this.checkout.resolve("target/app-1/tutti.jar"), this.checkout.resolve("target/app-2/tutti.jar"));
		Files.createSymbolicLink(this.checkout.resolve("target/app"), Path.of("app-2"));
		assertThat(start("newer", "third", "", "env").out("-XX:AOTCache=")).contains("/target/app-2/cache/");
	}

	@Test
	void withoutACacheARankStillStartsAndDoesNotRetryRecording() throws Exception {
		Started first = start("new", "first", "", "env");
		assertThat(first.exitCode()).isZero();
		assertThat(first.out()).endsWith("env").noneMatch((word) -> word.startsWith("-XX:AOTCache"));
		assertThat(first.err()).last()
			.asString()
			.contains("recording failed, so starts take longer", "launcher.aot.failed");
		Started second = start("new", "second", "", "env");
		assertThat(second.exitCode()).isZero();
		assertThat(second.err()).isEmpty();
	}

	@Test
	void anUnwritableCacheFolderIsNotAnError() throws Exception {
		assertThat(start("new", "first", "", "env").exitCode()).isZero();
		try (Stream<Path> files = Files.walk(cache("launcher").getParent())) {
			files.sorted(Comparator.reverseOrder()).forEach((file) -> file.toFile().delete());
		}
		Files.createFile(cache("launcher").getParent());
		Started started = start("new", "second", "", "env");
		assertThat(started.exitCode()).isZero();
		assertThat(started.err()).isEmpty();
	}

	/** The cache for the JDK {@code new}. */
	private Path cache(String kind) throws Exception {
		Path layout = this.checkout.resolve("target/app");
		Path place = Files.writeString(this.directory.resolve("place"), layout.toRealPath().toString());
		return layout
			.resolve("cache/" + sum(place) + "_" + sum(this.directory.resolve("new/release")) + "-" + kind + ".aot");
	}

	private static String sum(Path file) throws IOException {
		Process sum = new ProcessBuilder("cksum").redirectInput(file.toFile()).start();
		return new String(sum.getInputStream().readAllBytes(), StandardCharsets.UTF_8).split(" ")[0];
	}

	/** Its classes would look for native libraries at the old place. */
	@Test
	void aCheckoutThatWasMovedDoesNotUseItsOldCache() throws Exception {
		jdk("new", "25.0.1", RECORDS);
		Started before = start("new", "before", "", "env");
		assertThat(before.exitCode()).isZero();
		assertThat(before.out()).contains("-XX:AOTCache=" + cache("launcher"));
		this.checkout = Files.move(this.checkout, this.directory.resolve("moved"));
		Started moved = start("new", "after", "", "env");
		assertThat(moved.exitCode()).isZero();
		assertThat(moved.err()).anyMatch((line) -> line.contains("recording a launcher cache"));
		assertThat(moved.out()).contains("-XX:AOTCache=" + cache("launcher"));
	}

	/**
	 * Java takes the home of the account, in which another user's Maven may not write.
	 */
	@Test
	void theBuildKeepsItsFilesInTheHomeOfTheEnvironment() throws Exception {
		script(this.checkout.resolve("mvnw"), "echo \"options $MAVEN_OPTS\"; exit 1");
		Path home = Files.createDirectory(this.directory.resolve("home"));
		Started started = start("new", "out", Map.of("HOME", home.toString(), "MAVEN_OPTS", "-Xmx1g"), "env");
		assertThat(started.exitCode()).isEqualTo(70);
		assertThat(started.err())
			.anyMatch((line) -> line.startsWith("options ") && line.endsWith("-Duser.home=" + home + " -Xmx1g"));
	}

	@ParameterizedTest
	@ValueSource(strings = { "env", "launch", "--help", "--version" })
	void commandsThatAreNotRanksStartWithFastFlagsAndKnowTheScript(String command) throws Exception {
		Started started = start("new", "out", "", command);
		assertThat(started.exitCode()).isZero();
		assertThat(started.out()).contains("-XX:TieredStopAtLevel=1", "-Dtutti.script=" + this.checkout + "/tutti")
			.doesNotContain("jdk.incubator.vector");
	}

	@Test
	void ranksThatStartAtOnceBuildOnce() throws Exception {
		List<Started> ranks = new ArrayList<>();
		for (int rank = 0; rank < 4; rank++) {
			ranks.add(start("new", "rank" + rank, "", "env"));
		}
		for (Started rank : ranks) {
			assertThat(rank.exitCode()).isZero();
			assertThat(rank.out()).endsWith("env");
		}
		assertThat(this.checkout.resolve("builds")).hasContent("once");
	}

	/** As where the file belongs to another user, whose folder anybody may write. */
	@Test
	void aLockThatCannotBeWrittenDoesNotPreventTheBuild() throws Exception {
		Files.createDirectories(this.checkout.resolve("target/.tutti-build.lock"));
		assertThat(start("new", "out", "", "env").exitCode()).isZero();
		assertThat(this.checkout.resolve("builds")).hasContent("once");
	}

	/** A rank that waits for another one of its own launcher says nothing. */
	@ParameterizedTest
	@CsvSource({ "'', '', 0, true", "'', 1, 0, true", "1, 1, 0, false", "1, 2, 0, true", "'', '', 1, false" })
	void aStartThatWaitsForTheBuildSaysSoExceptForRanks(String holder, String launcher, String rank, boolean says)
			throws Exception {
		Path built = this.checkout.resolve("continue");
		String build = Files.readString(this.checkout.resolve("mvnw"));
		script(this.checkout.resolve("mvnw"),
				build.replace("sleep 0.3", "while ! [ -e continue ]; do sleep 0.05; done"));
		Started first = start("new", "first", Map.of("TUTTI_LAUNCHER_PID", holder), "env");
		await().atMost(Duration.ofSeconds(20)).until(() -> Files.exists(this.checkout.resolve("builds")));
		Started second = start("new", "second", Map.of("TUTTI_LAUNCHER_PID", launcher, "RANK", rank), "env");
		if (says) {
			await().atMost(Duration.ofSeconds(20))
				.untilAsserted(() -> assertThat(second.err())
					.containsExactly("tutti: waiting for another start, which builds Tutti"));
		}
		else {
			Thread.sleep(3000);
		}
		Files.createFile(built);
		assertThat(first.exitCode()).isZero();
		assertThat(second.exitCode()).isZero();
		assertThat(second.err().stream().anyMatch((line) -> line.contains("waiting"))).isEqualTo(says);
	}

	@Test
	void aLayoutOlderThanTheJarIsRebuilt() throws Exception {
		assertThat(start("new", "first", "", "env").exitCode()).isZero();
		assertThat(start("new", "second", "", "env").exitCode()).isZero();
		assertThat(this.checkout.resolve("builds")).hasContent("once");
		Path jar = this.checkout.resolve("target/tutti.jar");
		Files.setLastModifiedTime(jar, FileTime.from(Instant.now().plusSeconds(60)));
		assertThat(start("new", "third", "", "env").exitCode()).isZero();
		assertThat(this.checkout.resolve("builds")).hasContent("once\nonce");
	}

	/** Of the ranks of another launcher, rank 0 reports it. */
	@ParameterizedTest
	@ValueSource(strings = { "src/main/java/Tutti.java", "application.yml", "pom.xml" })
	void aBuildThatIsOlderThanTheSourcesIsReported(String file) throws Exception {
		Path source = this.checkout.resolve(file);
		Files.createDirectories(source.getParent());
		Files.writeString(source, "a source");
		assertThat(start("new", "first", "", "env").exitCode()).isZero();
		assertThat(errors(start("new", "second", "", "env"))).isEmpty();
		Files.setLastModifiedTime(source, FileTime.from(Instant.now().plusSeconds(60)));
		assertThat(errors(start("new", "third", "", "env"))).singleElement()
			.asString()
			.contains("the sources are newer than the build", "./mvnw -DskipTests package");
		assertThat(errors(start("new", "launched", Map.of("RANK", "0", "TUTTI_LAUNCHER_PID", "1"), "env"))).isEmpty();
		for (String rank : List.of("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")) {
			assertThat(errors(start("new", "zero", Map.of(rank, "0"), "env"))).as("%s=0", rank).hasSize(1);
			assertThat(errors(start("new", "one", Map.of(rank, "1"), "env"))).as("%s=1", rank).isEmpty();
		}
	}

	/** Spring reads {@code application.yml} of the working directory itself. */
	@Test
	void inTheCheckoutChangedConfigurationIsReadWithoutABuild() throws Exception {
		Path configuration = Files.writeString(this.checkout.resolve("application.yml"), "a: b");
		this.runner = List.of("env", "--default-signal=INT", "--chdir=" + this.checkout);
		assertThat(start("new", "first", "", "env").exitCode()).isZero();
		Files.setLastModifiedTime(configuration, FileTime.from(Instant.now().plusSeconds(60)));
		assertThat(errors(start("new", "second", "", "env"))).isEmpty();
	}

	private static List<String> errors(Started started) throws Exception {
		assertThat(started.exitCode()).isZero();
		return started.err();
	}

	@Test
	void anUnsupportedPlatformIsRejectedBeforeTheBuild() throws Exception {
		script(Files.createDirectory(this.directory.resolve("bin")).resolve("uname"), "echo Darwin arm64");
		Started started = start("new", "out", "", "env");
		assertThat(started.exitCode()).isEqualTo(64);
		assertThat(started.out()).isEmpty();
		assertThat(started.err()).singleElement()
			.isEqualTo("tutti: this build runs on Linux on x86-64 only (its native libraries require it);"
					+ " this machine is Darwin arm64");
		assertThat(this.checkout.resolve("target")).doesNotExist();
	}

	@Test
	void furtherJvmFlagsComeFromTheEnvironment() throws Exception {
		Started started = start("new", "out", "-Xmx1g -Dtutti.rank=1", "env");
		assertThat(started.exitCode()).isZero();
		assertThat(started.out()).containsSubsequence("-Xmx1g", "-Dtutti.rank=1", "-jar");
	}

	@Test
	void aJdkThatIsTooOldIsSkipped() throws Exception {
		Started started = start("old", "out", "", "env");
		started.exitCode();
		assertThat(started.out()).doesNotContain("the old one ran");
		assertThat(started.err()).isNotEmpty();
	}

	@Test
	void aRelativePathToTheJdkIsThatOfTheWorkingDirectory() throws Exception {
		jdk("new", "25.0.1", RECORDS);
		Started started = start("new", "out", Map.of("JAVA_HOME", "new", "CDPATH", "check out:."), "env");
		assertThat(started.out("-XX:AOTCache=")).isEqualTo(cache("launcher").toString());
		assertThat(started.err()).contains("built by " + this.directory.resolve("new"));
	}

	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aCheckoutThatCannotBeWrittenIsNamed(boolean hasTarget) throws Exception {
		Path unwritable = hasTarget ? Files.createDirectory(this.checkout.resolve("target")) : this.checkout;
		for (Path readable : List.of(this.directory, this.checkout.resolve("tutti"))) {
			Files.setPosixFilePermissions(readable, PosixFilePermissions.fromString("rwxr-xr-x"));
		}
		Files.setPosixFilePermissions(unwritable, PosixFilePermissions.fromString("r-xr-xr-x"));
		if (Files.isWritable(unwritable)) {
			this.runner = List.of("sh", "-c", "exec setpriv --reuid=65534 --clear-groups \"$@\"", "sh");
			assumeThat(start("new", "probe", "", "--version").exitCode()).as("another user can run the script")
				.isNotIn(126, 127);
		}
		Started started = start("new", "out", "", "env");
		assertThat(started.exitCode()).isEqualTo(64);
		assertThat(started.err()).singleElement()
			.asString()
			.contains(this.checkout.resolve("target") + ", which cannot be written", "run ./tutti once as a user");
	}

	@Test
	void aBuildNeedsAHome() throws Exception {
		Started started = start("new", "out", Map.of("HOME", "", "MAVEN_USER_HOME", ""), "env");
		assertThat(started.exitCode()).isEqualTo(64);
		assertThat(started.err()).singleElement().asString().contains("set HOME");
		Started unwritable = start("new", "unwritable", Map.of("HOME", "/proc/none", "MAVEN_USER_HOME", ""), "env");
		assertThat(unwritable.exitCode()).isEqualTo(64);
		assertThat(unwritable.err()).singleElement().asString().contains("/proc/none/.m2", "set HOME");
		String maven = this.directory.resolve("m2").toString();
		assertThat(start("new", "maven", Map.of("HOME", "", "MAVEN_USER_HOME", maven), "env").exitCode()).isZero();
		assertThat(start("new", "built", Map.of("HOME", "", "MAVEN_USER_HOME", ""), "env").exitCode()).isZero();
	}

	@Test
	void aBuildThatFailsIsAnError() throws Exception {
		script(this.checkout.resolve("mvnw"), "echo no network; exit 1");
		Started started = start("new", "out", "", "env");
		assertThat(started.exitCode()).isEqualTo(70);
		assertThat(started.out()).isEmpty();
		assertThat(started.err()).contains("no network").anyMatch((line) -> line.contains("the build failed"));
	}

	@Test
	void theBuildReportsItsProgressAndItsErrorsOnly() throws Exception {
		script(this.checkout.resolve("mvnw"),
				"""
						echo "WARNING: A restricted method in java.lang.System has been called" >&2
						echo "[INFO] Downloading from central: https://repo/org/small/1.0/small-1.0.jar"
						echo "[INFO] Downloaded from central: https://repo/org/small/1.0/small-1.0.jar (2 kB at 1 MB/s)"
						echo "[INFO] Downloading from central: https://repo/org/pytorch/2.1/pytorch-2.1-linux-x86_64.jar"
						echo "[INFO] Downloaded from central: https://repo/org/pytorch/2.1/pytorch-2.1-linux-x86_64.jar (90 MB)"
						echo "[INFO] --- compiler:3.15.0:compile (default-compile) @ tutti ---"
						echo "[WARNING] bootstrap class path"
						echo "[INFO] --- spring-boot:4.1.1:repackage (repackage) @ tutti ---"
						echo "[ERROR] a \\ and 100 % of it"
						echo "[ERROR] "
						echo "[ERROR] To see the full stack trace of the errors, re-run Maven with the -e switch."
						echo "[ERROR] Re-run Maven using the -X switch to enable full debug logging."
						echo "[ERROR] For more information about the errors and possible solutions, please read the following articles:"
						echo "[ERROR] [Help 1] http://cwiki.apache.org/confluence/display/MAVEN/MojoExecutionException"
						exit 1""");
		Started started = start("new", "out", "", "env");
		assertThat(started.exitCode()).isEqualTo(70);
		assertThat(started.err()).hasSize(7)
			.containsSubsequence("tutti: files downloaded: 1", "tutti: downloading pytorch-2.1-linux-x86_64.jar",
					"tutti: compiling", "tutti: making the application layout", "[ERROR] a \\ and 100 % of it");
	}

	private void jdk(String name, String version, String java) throws IOException {
		Path home = this.directory.resolve(name);
		Files.createDirectories(home.resolve("bin"));
		Files.writeString(home.resolve("release"), "IMPLEMENTOR=\"x\"\nJAVA_VERSION=\"" + version + "\"\n");
		script(home.resolve("bin/java"), java);
		script(home.resolve("bin/javac"), "exit 1");
	}

	private static void script(Path file, String text) throws IOException {
		Files.writeString(file, "#!/bin/sh\n" + text + "\n");
		assertThat(file.toFile().setExecutable(true, false)).isTrue();
	}

	/**
	 * Runs the script from a directory that is not the checkout. The tests may run where
	 * SIGINT is ignored, as in the background of a script.
	 */
	private Started start(String jdk, String name, String options, String... arguments) throws IOException {
		return start(jdk, name, Map.of("TUTTI_JAVA_OPTS", options), arguments);
	}

	private Started start(String jdk, String name, Map<String, String> environment, String... arguments)
			throws IOException {
		List<String> command = new ArrayList<>(this.runner);
		command.add(this.checkout.resolve("tutti").toString());
		command.addAll(List.of(arguments));
		ProcessBuilder builder = new ProcessBuilder(command).directory(this.directory.toFile())
			.redirectInput(new File("/dev/null"))
			.redirectOutput(this.directory.resolve(name + ".out").toFile())
			.redirectError(this.directory.resolve(name + ".err").toFile());
		builder.environment().put("JAVA_HOME", this.directory.resolve(jdk).toString());
		builder.environment().putAll(environment);
		builder.environment().merge("PATH", this.directory.resolve("bin").toString(), (path, own) -> own + ":" + path);
		return new Started(builder.start(), this.directory.resolve(name + ".out"),
				this.directory.resolve(name + ".err"));
	}

	private record Started(Process process, Path outFile, Path errFile) {

		int exitCode() throws InterruptedException {
			assertThat(this.process.waitFor(20, TimeUnit.SECONDS)).as("the script ends").isTrue();
			return this.process.exitValue();
		}

		List<String> out() throws IOException {
			return Files.readAllLines(this.outFile);
		}

		/** The rest of the one word in the output that starts with a prefix. */
		String out(String prefix) throws Exception {
			assertThat(exitCode()).isZero();
			List<String> words = out().stream().filter((word) -> word.startsWith(prefix)).toList();
			assertThat(words).as("words with %s of %s", prefix, out()).hasSize(1);
			return words.getFirst().substring(prefix.length());
		}

		List<String> err() throws IOException {
			return Files.readAllLines(this.errFile);
		}

	}

}
