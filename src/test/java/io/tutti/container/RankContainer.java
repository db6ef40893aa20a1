package io.tutti.container;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import com.github.dockerjava.api.DockerClient;
import com.github.dockerjava.api.command.InspectContainerResponse;
import com.github.dockerjava.api.exception.InternalServerErrorException;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.Container.ExecResult;
import org.testcontainers.containers.GenericContainer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * One rank in a container of its own.
 */
final class RankContainer {

	private static final DockerClient DOCKER = DockerClientFactory.lazyClient();

	private final GenericContainer<?> container;

	private final Supplier<String> outputs;

	/**
	 * A started container.
	 * @param outputs what all ranks of the job have printed
	 */
	RankContainer(GenericContainer<?> container, Supplier<String> outputs) {
		this.container = container;
		this.outputs = outputs;
	}

	/** Everything printed so far. */
	String output() {
		return this.container.getLogs();
	}

	/** Waits for the rank to end. */
	void requireExit(int code, Duration limit) {
		Awaitility.await("the end of a rank")
			.atMost(limit)
			.pollInterval(Duration.ofMillis(200))
			.untilAsserted(() -> assertThat(state().getRunning()).as(this::output).isFalse());
		assertThat(state().getExitCodeLong()).as(output()).isEqualTo((long) code);
	}

	void awaitOutput(String text, Duration limit) {
		await(text, limit, () -> output().contains(text));
	}

	void awaitReady(Duration limit) {
		await("wget -q -O - http://127.0.0.1:8080/api/v1/group | grep -q '\"READY\"'", limit);
	}

	/**
	 * Waits until a shell command in the container succeeds. The loop is there, since an
	 * execution takes longer than a check. It ends with the container, which may start
	 * again.
	 */
	void await(String command, Duration limit) {
		String loop = "until " + command + "; do sleep 0.3; done 2>/dev/null";
		await(command, limit, () -> this.container.execInContainer("sh", "-c", loop).getExitCode() == 0);
	}

	private void await(String condition, Duration limit, Callable<Boolean> isMet) {
		try {
			Awaitility.await(condition)
				.atMost(limit)
				.pollInterval(Duration.ofMillis(200))
				.ignoreExceptions()
				.until(isMet);
		}
		catch (ConditionTimeoutException ex) {
			throw new AssertionError(ex.getMessage() + "\n" + this.outputs.get(), ex);
		}
	}

	/** What the rank's own HTTP answers, asked from inside the container. */
	String get(String path) {
		try {
			ExecResult result = this.container.execInContainer("wget", "-q", "-O", "-", "http://127.0.0.1:8080" + path);
			return result.getStdout();
		}
		catch (IOException | InterruptedException | RuntimeException ex) {
			return "no answer: " + ex;
		}
	}

	/** What the rank answers to a request that changes state, or the error's status. */
	String post(String path, String json) throws IOException, InterruptedException {
		ExecResult result = this.container.execInContainer("sh", "-c",
				"wget -q -O - --header 'Content-Type: application/json' --header \"Authorization: Bearer "
						+ "$TUTTI_SECURITY_TOKEN\" --post-data '" + json + "' http://127.0.0.1:8080" + path);
		return result.getStdout() + result.getStderr();
	}

	/** The exit code of the image's health check of the given ranks in the container. */
	int health(String kind, int ranks) throws IOException, InterruptedException {
		return this.container.execInContainer("sh", "/app/health.sh", kind, "" + ranks).getExitCode();
	}

	/** Output of a shell command in the container. */
	String shell(String command) throws IOException, InterruptedException {
		return this.container.execInContainer("sh", "-c", command).getStdout();
	}

	void kill(String signal) {
		DOCKER.killContainerCmd(this.container.getContainerId()).withSignal(signal).exec();
	}

	/** A kernel that is busy may refuse to freeze at first. */
	void pause() {
		Awaitility.await("a pause")
			.atMost(Duration.ofSeconds(10))
			.ignoreExceptionsInstanceOf(InternalServerErrorException.class)
			.untilAsserted(() -> DOCKER.pauseContainerCmd(this.container.getContainerId()).exec());
	}

	void unpause() {
		DOCKER.unpauseContainerCmd(this.container.getContainerId()).exec();
	}

	/** Ends the process as a crash does, so that a restart policy applies. */
	void crash() throws IOException, InterruptedException {
		run(List.of("kill", "-9", String.valueOf(pid())));
	}

	/** Runs a program of this machine in the container's network. */
	void inNetwork(String... command) throws IOException, InterruptedException {
		List<String> all = new ArrayList<>(List.of("nsenter", "-t", String.valueOf(pid()), "-n"));
		all.addAll(List.of(command));
		run(all);
	}

	/** Lets nothing through to or from a port, either way. */
	void cut(int port) throws IOException, InterruptedException {
		for (String chain : List.of("INPUT", "OUTPUT")) {
			for (String end : List.of("--dport", "--sport")) {
				inNetwork("iptables", "-w", "-I", chain, "-p", "tcp", end, String.valueOf(port), "-j", "DROP");
			}
		}
	}

	/** Lets nothing through to another container. */
	void cutFrom(RankContainer other) throws IOException, InterruptedException {
		inNetwork("iptables", "-w", "-I", "OUTPUT", "-d", other.shell("hostname -i").strip(), "-j", "DROP");
	}

	private long pid() {
		Long pid = state().getPidLong();
		assertThat(pid).isPositive();
		return pid;
	}

	private InspectContainerResponse.ContainerState state() {
		return DOCKER.inspectContainerCmd(this.container.getContainerId()).exec().getState();
	}

	private static void run(List<String> command) throws IOException, InterruptedException {
		Process process = new ProcessBuilder(command).inheritIO().start();
		assertThat(process.waitFor(20, TimeUnit.SECONDS)).as("%s ends", command).isTrue();
		assertThat(process.exitValue()).as("%s", command).isZero();
	}

	void remove() {
		this.container.stop();
	}

}
