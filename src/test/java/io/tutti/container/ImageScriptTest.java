package io.tutti.container;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The image's entry point as the first process of a namespace, as in a container. A shell
 * script replaces Java.
 */
@Timeout(60)
class ImageScriptTest {

	private static final Path SCRIPT = Path.of("src/main/docker/tutti.sh").toAbsolutePath();

	private static final Duration LIMIT = Duration.ofSeconds(20);

	@TempDir
	private Path directory;

	private final List<Process> containers = new ArrayList<>();

	private final Map<String, String> variables = new HashMap<>();

	@AfterEach
	void noContainerIsLeft() {
		for (Process container : this.containers) {
			container.descendants().forEach(ProcessHandle::destroyForcibly);
		}
	}

	@ParameterizedTest
	@CsvSource({ "serve, 0", "train, 76", "train, 127", "launch, 64" })
	void theContainerEndsWithTheCodeOfTheProgram(String command, int code) throws Exception {
		assertThat(exitCode(start("exit " + code, command))).isEqualTo(code);
	}

	@Test
	void aProgramKilledByASignalEndsTheContainer() throws Exception {
		assertThat(exitCode(start("kill -9 $$", "serve"))).isEqualTo(137);
	}

	@ParameterizedTest
	@CsvSource({ "TERM", "INT", "HUP" })
	void aStopIsPassedOnAndItsCodeReturned(String signal) throws Exception {
		Process container = start("trap 'sleep 0.3; exit 79' TERM; touch ready; while :; do sleep 0.05; done", "train");
		awaitFile("ready");
		signal(container, signal);
		assertThat(exitCode(container)).isEqualTo(79);
	}

	@Test
	void aRankThatLeavesIsKilledAtAStop() throws Exception {
		this.variables.put("TUTTI_STOP_SIGNAL", "KILL");
		Process container = start("trap 'exit 79' TERM; touch ready; while :; do sleep 0.05; done", "train");
		awaitFile("ready");
		signal(container, "TERM");
		assertThat(exitCode(container)).isEqualTo(137);
	}

	@Test
	void anUnknownStopSignalIsRefused() throws Exception {
		this.variables.put("TUTTI_STOP_SIGNAL", "9");
		assertThat(exitCode(start("exit 0", "train"))).isEqualTo(64);
	}

	@Test
	void anOrphanLeavesNoZombie() throws Exception {
		Process container = start("sh -c 'sleep 0.2 & echo $! > orphan'; "
				+ "while [ -e /proc/$(cat orphan) ]; do sleep 0.05; done; exit 5", "serve");
		assertThat(exitCode(container)).isEqualTo(5);
	}

	private Process start(String java, String command) throws IOException, InterruptedException {
		List<String> namespace = List.of("unshare", "--pid", "--fork", "--mount-proc", "--kill-child");
		Assumptions.assumeTrue(canUse(namespace), "this machine lets no test create a process namespace");
		Path folder = Files.createDirectories(this.directory.resolve("bin"));
		Path program = Files.writeString(folder.resolve("java"), "#!/bin/sh\ncd '" + this.directory + "'\n" + java);
		assertThat(program.toFile().setExecutable(true)).isTrue();
		List<String> words = new ArrayList<>(namespace);
		// A shell cannot trap a signal that its parent ignores, as nohup does.
		words.addAll(List.of("env", "--default-signal=HUP,INT,QUIT,TERM", "sh", SCRIPT.toString(), command));
		ProcessBuilder builder = new ProcessBuilder(words).redirectErrorStream(true)
			.redirectOutput(ProcessBuilder.Redirect.DISCARD);
		builder.environment().putAll(this.variables);
		builder.environment().merge("PATH", folder + ":", (path, first) -> first + path);
		this.containers.add(builder.start());
		return this.containers.getLast();
	}

	private static boolean canUse(List<String> namespace) throws InterruptedException {
		List<String> words = new ArrayList<>(namespace);
		words.add("true");
		try {
			return new ProcessBuilder(words).redirectErrorStream(true)
				.redirectOutput(ProcessBuilder.Redirect.DISCARD)
				.start()
				.waitFor() == 0;
		}
		catch (IOException ex) {
			return false;
		}
	}

	private void awaitFile(String name) {
		Awaitility.await().atMost(LIMIT).until(() -> Files.exists(this.directory.resolve(name)));
	}

	/** Signals the shell, the only child of the namespace's parent. */
	private static void signal(Process container, String signal) throws IOException, InterruptedException {
		ProcessHandle shell = container.children().findFirst().orElseThrow();
		new ProcessBuilder("kill", "-" + signal, "" + shell.pid()).start().waitFor();
	}

	private static int exitCode(Process container) throws InterruptedException {
		assertThat(container.waitFor(LIMIT.toMillis(), TimeUnit.MILLISECONDS)).isTrue();
		return container.exitValue();
	}

}
