package io.tutti.service.command;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.tutti.TestJvm;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The command in a separate JVM, as a user starts it, with small shell programs.
 */
@Timeout(180)
class LaunchCommandTest {

	/** A JVM and its ranks start within it on an overloaded machine, too. */
	private static final Duration LIMIT = Duration.ofSeconds(80);

	@TempDir
	private Path directory;

	private final List<Process> launchers = new ArrayList<>();

	@AfterEach
	void endLaunchers() {
		this.launchers.forEach((launcher) -> launcher.descendants().forEach(ProcessHandle::destroyForcibly));
		this.launchers.forEach(Process::destroyForcibly);
	}

	/** Runs {@link LaunchCommand} directly, without the other commands. */
	static final class Main {

		private Main() {
		}

		static void main(String[] arguments) {
			System.exit(new CommandLine(new LaunchCommand()).execute(arguments));
		}

	}

	@Test
	void optionsAfterTheCommandBelongToTheCommand() throws Exception {
		Process launcher = launch("-n", "2", "--http-port", "9000", "--profile", "tcp", "echo", "-n", "7", "--help");
		assertThat(exitCode(launcher)).isZero();
		assertThat(lines("out")).containsExactlyInAnyOrder("[0] 7 --help", "[1] 7 --help");
	}

	@Test
	void portAndProfileReachEveryRank() throws Exception {
		Process launcher = launch("--http-port=9000", "--profile=tcp", "--master-port=4242", "--", "sh", "-c",
				"echo $TUTTI_HTTP_PORT $SPRING_PROFILES_ACTIVE $TUTTI_BACKEND $MASTER_PORT");
		assertThat(exitCode(launcher)).isZero();
		assertThat(lines("out")).containsExactly("[0] 9000 tcp tcp 4242");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			tarin            | neither a command nor a program: tarin. Did you mean train?
			TRAIN            | neither a command nor a program: TRAIN. Did you mean train?
			no-such-thing    | neither a command nor a program: no-such-thing. The commands are serve, train
			/no/such/program | program not found: /no/such/program
			/tmp             | program not executable: /tmp
			""")
	void aMisspeltCommandIsNamed(String word, String message) throws Exception {
		assertThat(exitCode(launch(word, "--epochs", "1"))).isEqualTo(64);
		assertThat(lines("err")).singleElement().asString().startsWith("tutti launch: " + message);
	}

	@Test
	void aScriptWhoseInterpreterIsMissingIsNamed() throws Exception {
		Path script = Files.writeString(this.directory.resolve("script"), "#!/no/such/interpreter\n");
		assertThat(script.toFile().setExecutable(true)).isTrue();
		assertThat(exitCode(launch(script.toString()))).isEqualTo(64);
		assertThat(lines("err")).singleElement()
			.asString()
			.startsWith("tutti launch: " + script + " cannot run on this machine: the interpreter");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			mpl      | --profile mpl is not a backend. Did you mean mpi?
			other    | --profile other is not a backend. The backends are tcp, mpi, nccl
			mpi,nccl | --profile mpi,nccl names the backends mpi and nccl: keep one
			""")
	void aProfileThatIsNotOneBackendIsRefused(String profile, String message) throws Exception {
		assertThat(exitCode(launch("--profile", profile, "true"))).isEqualTo(64);
		assertThat(lines("err")).singleElement().asString().isEqualTo("tutti launch: " + message);
	}

	@Test
	void anApplicationsOwnProfileMayAccompanyTheBackend() throws Exception {
		assertThat(exitCode(launch("--profile", "mine, mpi", "sh", "-c", "echo $TUTTI_BACKEND"))).isZero();
		assertThat(lines("out")).containsExactly("[0] mpi");
		assertThat(lines("err")).isEmpty();
	}

	@Test
	void aDrainTimeoutInTheConfigurationFileOfTheRanksApplies() throws Exception {
		Files.writeString(this.directory.resolve("application.yml"), "tutti.timeout.drain: soon");
		assertThat(exitCode(launch("serve"))).isEqualTo(64);
		assertThat(lines("err")).singleElement().asString().startsWith("tutti launch: tutti.timeout.drain=soon");
	}

	@Test
	void theCommandLineOfTheRanksMakesAJobElastic() throws Exception {
		Process launcher = launch("-n", "2", "sh", "-c", "echo $TUTTI_ELASTIC_MIN_RANKS $TUTTI_ELASTIC_ENDPOINTS", "sh",
				"--tutti.elastic.min-ranks=1", "--tutti.elastic.endpoints=a:1,b:2");
		assertThat(exitCode(launcher)).isZero();
		assertThat(lines("out")).containsExactlyInAnyOrder("[0] 1 a:1,b:2", "[1] 1 a:1,b:2");
	}

	@Test
	void aJobMayHaveAsManyRanksAsItHasEndpoints() throws Exception {
		Process launcher = launch("-n", "1", "--min-ranks", "1", "sh", "-c",
				"echo $TUTTI_ELASTIC_MAX_RANKS $TUTTI_ELASTIC_ENDPOINTS", "sh", "--tutti.elastic.endpoints=a:1,b:2");
		assertThat(exitCode(launcher)).isZero();
		assertThat(lines("out")).containsExactly("[0] 2 a:1,b:2");
	}

	@Test
	void theConfigurationFileOfTheRanksMakesAJobElastic() throws Exception {
		Files.writeString(this.directory.resolve("application.yml"), """
				tutti.elastic:
				  minRanks: 1
				  endpoints:
				  - a:1
				""");
		assertThat(exitCode(launch("-n", "2", "train"))).isEqualTo(64);
		assertThat(lines("err")).singleElement()
			.asString()
			.contains("tutti.elastic.endpoints must name one host:port for each of the 2 ranks", "got 1");
	}

	/** Such as a limit of the system that another attempt may not meet. */
	@Test
	void aProgramThatExistsAndCannotBeStartedIsNoBadConfiguration() {
		assertThat(new CommandLine(new LaunchCommand()).execute("true", "x".repeat(200_000))).isEqualTo(70);
	}

	@Test
	void theExitCodeIsThatOfTheFailedRank() throws Exception {
		assertThat(exitCode(launch("-n", "2", "sh", "-c", "exit 9"))).isEqualTo(9);
		assertThat(lines("err")).last().asString().contains("ended with 9; the others ended with: rank");
	}

	@Test
	void sigtermReachesEveryRankAndTheExitCodeIsThatOfTheRanks() throws Exception {
		Process launcher = launch("-n", "2", "sh", "-c",
				"trap 'exit 79' TERM; touch '" + this.directory + "'/ready-$RANK; while :; do sleep 0.05; done");
		awaitRanks(2);
		launcher.destroy();
		assertThat(exitCode(launcher)).isEqualTo(79);
	}

	@Test
	void sigtermEndsWithZeroIfAllRanksEndWithZero() throws Exception {
		Process launcher = launch("-n", "2", "sh", "-c",
				"trap 'exit 0' TERM; touch '" + this.directory + "'/ready-$RANK; while :; do sleep 0.05; done");
		awaitRanks(2);
		launcher.destroy();
		assertThat(exitCode(launcher)).isZero();
		assertThat(launcher.descendants()).isEmpty();
	}

	@Test
	void controlCThatRanksReceiveDirectlyEndsWithZero() throws Exception {
		Process launcher = launch("-n", "2", "sh", "-c",
				"trap 'exit 0' INT TERM; touch '" + this.directory + "'/ready-$RANK; while :; do sleep 0.05; done");
		awaitRanks(2);
		List<String> all = new ArrayList<>(List.of("kill", "-INT", Long.toString(launcher.pid())));
		launcher.children().forEach((rank) -> all.add(Long.toString(rank.pid())));
		assertThat(new ProcessBuilder(all).start().waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
		assertThat(exitCode(launcher)).isZero();
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			-n 4 --min-ranks 5                   | --min-ranks must be in 1..4, got 5
			-n 4 --min-ranks 0                   | --min-ranks must be in 1..4 (--max-ranks), got 0
			-n 4 --min-ranks 2 --max-ranks 3     | --max-ranks must be in 4..65536, got 3
			-n 4 --min-ranks 3 --max-ranks 2     | --min-ranks must be in 1..2 (--max-ranks), got 3
			-n 4 --max-ranks 6                   | --max-ranks 6 needs --min-ranks
			""")
	void anImpossibleNumberOfRanksIsRefusedWithOneSentence(String options, String message) throws Exception {
		List<String> arguments = new ArrayList<>(List.of(options.split(" ")));
		arguments.add("true");
		assertThat(exitCode(launch(arguments.toArray(String[]::new)))).isEqualTo(64);
		assertThat(lines("err")).containsExactly("tutti launch: " + message);
	}

	@Test
	void severalMachinesNeedTheEndpointsOfAllRanks() throws Exception {
		assertThat(exitCode(launch("-n", "2", "--nnodes", "2", "--master-addr", "a", "--min-ranks", "2", "true")))
			.isEqualTo(64);
		assertThat(lines("err")).singleElement().asString().contains("TUTTI_ELASTIC_ENDPOINTS");
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "-n 0 true", "-n two true", "--nnodes 2 true",
			"--nnodes 2 --node-rank 2 --master-addr a true", "--master-port 70000 true", "--http-port 0 true",
			"-n 4 --http-port 65533 true", "--max-restarts -1 true", "-n 2 --min-ranks 1 bench",
			"--no-such-option true", "/no/such/program", "true --tutti.timeout.drain=soon" })
	void anInvalidLaunchEndsWithBadConfiguration(String arguments) {
		assertThat(new CommandLine(new LaunchCommand())
			.execute(arguments.isEmpty() ? new String[0] : arguments.split(" "))).isEqualTo(64);
	}

	private Process launch(String... arguments) throws IOException {
		// A test run in the background of a shell inherits that SIGINT is ignored.
		List<String> command = new ArrayList<>(List.of("env", "--default-signal=INT"));
		command.addAll(TestJvm.command("-cp", classPath(), Main.class.getName()));
		command.addAll(List.of(arguments));
		Process launcher = new ProcessBuilder(command).directory(this.directory.toFile())
			.redirectInput(new File("/dev/null"))
			.redirectOutput(this.directory.resolve("out").toFile())
			.redirectError(this.directory.resolve("err").toFile())
			.start();
		this.launchers.add(launcher);
		return launcher;
	}

	private static String classPath() {
		return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
			.map((entry) -> Path.of(entry).toAbsolutePath().toString())
			.collect(Collectors.joining(File.pathSeparator));
	}

	private static int exitCode(Process launcher) throws InterruptedException {
		assertThat(launcher.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).as("the launcher ends").isTrue();
		return launcher.exitValue();
	}

	private void awaitRanks(int count) {
		for (int rank = 0; rank < count; rank++) {
			Path ready = this.directory.resolve("ready-" + rank);
			await().atMost(LIMIT).until(() -> Files.exists(ready));
		}
	}

	private List<String> lines(String stream) throws IOException {
		return Files.readAllLines(this.directory.resolve(stream));
	}

}
