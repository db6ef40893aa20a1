package io.tutti.launch;

import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

@Timeout(20)
@Isolated
class LauncherPiecesTest {

	private static final TuttiProgram OWN = new TuttiProgram(List.of("java", "-jar", "tutti.jar"));

	@ParameterizedTest
	@CsvSource({ "serve,SERVICE", "train,TRAINING", "bench,JOB", "env,JOB", "python,PROGRAM", "./train,PROGRAM" })
	void theFirstWordDeterminesTheKindOfCommand(String word, LaunchedCommand.Kind kind) {
		LaunchedCommand command = LaunchedCommand.of(List.of(word, "--epochs", "3"), OWN);
		assertThat(command.kind()).isEqualTo(kind);
		assertThat(command.words()).endsWith(word, "--epochs", "3");
		assertThat(command.words().contains("tutti.jar")).isEqualTo(kind != LaunchedCommand.Kind.PROGRAM);
	}

	/** As a shell understands it; Tutti's command of that name has options only. */
	@ParameterizedTest
	@CsvSource({ "env RANKS=2 python worker.py,PROGRAM", "env python,PROGRAM", "env,JOB", "env --json,JOB",
			"env --tutti.rank=0 --tutti.world-size=1,JOB", "tutti env python,JOB" })
	void envBeforeAProgramIsTheSystemsOwn(String typed, LaunchedCommand.Kind kind) {
		LaunchedCommand command = LaunchedCommand.of(List.of(typed.split(" ")), OWN);
		assertThat(command.kind()).isEqualTo(kind);
		assertThat(command.words().contains("tutti.jar")).isEqualTo(kind == LaunchedCommand.Kind.JOB);
	}

	@ParameterizedTest
	@ValueSource(strings = { "--format tsv", "--format=json", "--sizes 1K --format json" })
	void aMachineReadableFormatIsRecognizedInTheCommandsOptions(String options) {
		assertThat(LaunchedCommand.of(List.of(("bench " + options).split(" ")), OWN).plainOutput()).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "--format text", "--format", "tsv", "--format=tsvx" })
	void otherFormatsAreNotMachineReadable(String options) {
		assertThat(LaunchedCommand.of(List.of(("bench " + options).split(" ")), OWN).plainOutput()).isFalse();
	}

	@Test
	void anEmptyCommandIsRejected() {
		assertThatIllegalArgumentException().isThrownBy(() -> LaunchedCommand.of(List.of(), OWN))
			.withMessageContaining("train");
	}

	@ParameterizedTest
	@CsvSource({ "0,1,0,1,--nproc-per-node", "1,0,0,1,--nnodes", "1,2,2,1,--node-rank", "1,1,0,65536,--master-port",
			"65536,2,0,1,--nnodes" })
	void anInvalidPlanIsRejectedWithTheOption(int ranks, int nodes, int nodeRank, int port, String option) {
		LaunchedCommand command = LaunchedCommand.of(List.of("train"), OWN);
		assertThatIllegalArgumentException()
			.isThrownBy(() -> new LaunchPlan(command, ranks, nodes, nodeRank, "127.0.0.1", port, 0, null, Map.of()))
			.withMessageContaining(option)
			.withMessageContaining("must be in");
	}

	@Test
	void variablesOfOtherLaunchersAreRemoved() throws Exception {
		Map<String, String> environment = new HashMap<>(Map.of("OMPI_COMM_WORLD_RANK", "3", "OMPI_COMM_WORLD_SIZE", "4",
				"PMI_RANK", "3", "PMI_SIZE", "4", "SLURM_PROCID", "2", "PET_NODE_RANK", "1", "JOB_COMPLETION_INDEX",
				"1", "TUTTI_RANK", "5", "TORCHELASTIC_USE_AGENT_STORE", "True"));
		environment.put("HOME", "/root");
		LaunchPlan plan = new LaunchPlan(LaunchedCommand.of(List.of("train"), OWN), 2, 1, 0, "127.0.0.1", 4242, 0, null,
				Map.of());
		new RankEnvironment(plan, false).apply(environment, 1, new JobPorts(plan), 3);
		ResolvedRank resolved = RankResolution.resolve(environment, ResolutionSettings.from(environment::get));
		assertThat(resolved.source()).isEqualTo("torchrun");
		assertThat(resolved.assignment().rank()).isEqualTo(1);
		assertThat(resolved.assignment().worldSize()).isEqualTo(2);
		assertThat(resolved.assignment().masterPort()).isEqualTo(4242);
		assertThat(resolved.generation()).isEqualTo(3);
		assertThat(resolved.conflicts()).isEmpty();
		assertThat(resolved.ignored()).isEmpty();
		assertThat(environment).containsEntry("HOME", "/root");
	}

	@Test
	void onlyALauncherOnATerminalRequestsLiveLines() throws Exception {
		LaunchPlan plan = new LaunchPlan(LaunchedCommand.of(List.of("train"), OWN), 1, 1, 0, "127.0.0.1", 4242, 0, null,
				Map.of());
		Map<String, String> environment = new HashMap<>();
		new RankEnvironment(plan, true).apply(environment, 0, new JobPorts(plan), 0);
		assertThat(Terminal.showsLiveLines(environment)).isTrue();
		new RankEnvironment(plan, false).apply(environment, 0, new JobPorts(plan), 0);
		assertThat(environment).doesNotContainKey("TUTTI_LIVE_LINES");
	}

	@ParameterizedTest
	@CsvSource({ "./tutti train --epochs 3,TRAINING", "/opt/tutti/tutti serve,SERVICE", "tutti,SERVICE",
			"./tutti --http-port 9000,SERVICE" })
	void tuttisScriptIsTuttisProgram(String typed, LaunchedCommand.Kind kind) {
		List<String> words = List.of(typed.split(" "));
		LaunchedCommand command = LaunchedCommand.of(words, OWN);
		assertThat(command.kind()).isEqualTo(kind);
		assertThat(command.words()).startsWith("java", "-jar", "tutti.jar")
			.endsWith(words.subList(1, words.size()).toArray(String[]::new))
			.doesNotContain(words.getFirst());
	}

	@Test
	void aReservedPortIsNotReusedButRankZeroCanListenOnIt() throws Exception {
		LaunchPlan plan = new LaunchPlan(LaunchedCommand.of(List.of("train"), OWN), 1, 1, 0, "127.0.0.1", null, 0, null,
				Map.of());
		try (JobPorts ports = new JobPorts(plan);
				JobPorts others = new JobPorts(plan);
				ServerSocketChannel rankZero = ServerSocketChannel.open()) {
			assertThat(others.rendezvous()).isNotEqualTo(ports.rendezvous());
			rankZero.bind(new InetSocketAddress("127.0.0.1", ports.rendezvous()));
			assertThat(rankZero.getLocalAddress()).isEqualTo(new InetSocketAddress("127.0.0.1", ports.rendezvous()));
		}
	}

	@Test
	void tuttisProgramIsThisJavaWithThisClassPath() {
		List<String> words = TuttiProgram.ofThisProcess("io.tutti.Main").words();
		assertThat(words.getFirst()).isEqualTo(Path.of(System.getProperty("java.home"), "bin", "java").toString());
		assertThat(words).contains("--add-opens=java.base/sun.nio.ch=ALL-UNNAMED")
			.endsWith("-cp", System.getProperty("java.class.path"), "io.tutti.Main")
			.noneMatch((word) -> word.startsWith("-javaagent"));
	}

	@Test
	void ranksAreStartedByTheScriptThatStartedTheLauncher() {
		System.setProperty(TuttiProgram.SCRIPT_PROPERTY, "/opt/tutti/tutti");
		try {
			assertThat(TuttiProgram.ofThisProcess("io.tutti.Main").words()).containsExactly("/opt/tutti/tutti");
		}
		finally {
			System.clearProperty(TuttiProgram.SCRIPT_PROPERTY);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "Start-Class", "Main-Class" })
	void tuttisProgramIsTheJarIfItRunsFromOne(String attribute, @TempDir Path directory) throws Exception {
		Manifest manifest = new Manifest();
		manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
		manifest.getMainAttributes().putValue(attribute, "io.tutti.Main");
		Path jar = directory.resolve("tutti.jar");
		new JarOutputStream(Files.newOutputStream(jar), manifest).close();
		List<String> flags = List.of("-Xmx1g", "-agentlib:jdwp=transport=dt_socket,address=5005", "-Dtutti.a=b");
		assertThat(TuttiProgram.of(Path.of("java"), flags, jar.toString(), "io.tutti.Main").words())
			.containsExactly("java", "-Xmx1g", "-Dtutti.a=b", "-jar", jar.toString());
		assertThat(TuttiProgram.of(Path.of("java"), flags, jar.toString(), "io.other.Main").words()).contains("-cp");
	}

}
