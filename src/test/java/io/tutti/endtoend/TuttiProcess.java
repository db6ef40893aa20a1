package io.tutti.endtoend;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.tutti.TestJvm;
import org.awaitility.Awaitility;

/**
 * The real program in a separate process, as a user starts it, and its output.
 */
final class TuttiProcess implements AutoCloseable {

	/**
	 * What the script gives a rank that ends before the optimizing compiler pays off, as
	 * every rank of a test does.
	 */
	private static final String SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -Xmn48m";

	/** Scalar kernels, which start faster than vector kernels. */
	static final Map<String, String> SCALAR = Map.of("TUTTI_VECTORS", "false");

	private final Process process;

	private final List<String> lines = new CopyOnWriteArrayList<>();

	private final List<Thread> readers = new ArrayList<>();

	private TuttiProcess(Process process) {
		this.process = process;
		this.readers.add(read(process.getInputStream()));
		this.readers.add(read(process.getErrorStream()));
	}

	static TuttiProcess start(Path directory, String... arguments) throws IOException {
		return start(directory, Map.of(), arguments);
	}

	static TuttiProcess start(Path directory, Map<String, String> environment, String... arguments) throws IOException {
		return startWithin(List.of(), directory, environment, arguments);
	}

	/** Starts the program as the final arguments of another command. */
	static TuttiProcess startWithin(List<String> wrapper, Path directory, String... arguments) throws IOException {
		return startWithin(wrapper, directory, Map.of(), arguments);
	}

	static TuttiProcess startWithin(List<String> wrapper, Path directory, Map<String, String> environment,
			String... arguments) throws IOException {
		List<String> command = new ArrayList<>(wrapper);
		command.add(Path.of("tutti").toAbsolutePath().toString());
		command.addAll(List.of(arguments));
		return run(directory, environment, command);
	}

	/** The Java command that runs a rank, with its flags. */
	static List<String> java() {
		List<String> command = TestJvm.command("--add-opens", "java.base/sun.nio.ch=ALL-UNNAMED");
		command.addAll(shortLived());
		return command;
	}

	/** The JVM flags of a process that lives for seconds. */
	static List<String> shortLived() {
		return List.of(SHORT_LIVED.split(" "));
	}

	/** Starts any command, such as another launcher. */
	static TuttiProcess run(Path directory, Map<String, String> environment, List<String> command) throws IOException {
		ProcessBuilder builder = new ProcessBuilder(command).directory(directory.toFile());
		builder.environment().put("TUTTI_JAVA_OPTS", SHORT_LIVED);
		builder.environment().put("JAVA_HOME", System.getProperty("java.home"));
		builder.environment().putAll(environment);
		return new TuttiProcess(builder.start());
	}

	/** Writes a line to the input of the process. */
	void type(String line) throws IOException {
		this.process.getOutputStream().write((line + "\n").getBytes(StandardCharsets.UTF_8));
		this.process.getOutputStream().flush();
	}

	/** Closes the input of the process. */
	void endInput() throws IOException {
		this.process.getOutputStream().close();
	}

	/** Forgets the output so far. */
	void forget() {
		this.lines.clear();
	}

	/** Waits until the given number of lines contain the text. */
	void awaitLines(String text, int count, Duration limit) {
		Awaitility.await(count + " lines with " + text)
			.atMost(limit)
			.pollInterval(Duration.ofMillis(50))
			.until(() -> this.lines.stream().filter((line) -> line.contains(text)).count() >= count);
	}

	private Thread read(InputStream stream) {
		return Thread.ofVirtual().start(() -> {
			try (BufferedReader reader = new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
				reader.lines().forEach(this.lines::add);
			}
			catch (IOException | UncheckedIOException ex) {
				// The stream ends when the process ends.
			}
		});
	}

	/** The output of both streams so far. */
	String output() {
		return String.join("\n", this.lines);
	}

	/** The exit code, once the process has ended. */
	int exitCode(Duration limit) throws InterruptedException {
		if (!this.process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
			throw new AssertionError("not ended after " + limit + ":\n" + output());
		}
		for (Thread reader : this.readers) {
			reader.join(Duration.ofSeconds(5));
		}
		return this.process.exitValue();
	}

	/** Waits for a line that contains the pattern and returns the match. */
	Matcher awaitLine(String pattern, Duration limit) {
		Pattern compiled = Pattern.compile(pattern);
		return Awaitility.await("a line with " + pattern)
			.atMost(limit)
			.pollInterval(Duration.ofMillis(50))
			.conditionEvaluationListener((condition) -> {
				if (condition.getRemainingTimeInMS() == 0) {
					System.err.println(output());
				}
			})
			.until(() -> find(compiled), (matcher) -> matcher != null);
	}

	private Matcher find(Pattern pattern) {
		if (!this.process.isAlive() && this.lines.isEmpty()) {
			throw new AssertionError("the process ended without a word");
		}
		for (String line : this.lines) {
			Matcher matcher = pattern.matcher(line);
			if (matcher.find()) {
				return matcher;
			}
		}
		return null;
	}

	/** The processes of the ranks, by rank. */
	ProcessHandle rank(int rank, Duration limit) {
		return Awaitility.await("rank " + rank + " to run")
			.atMost(limit)
			.pollInterval(Duration.ofMillis(50))
			.until(() -> childOfRank(rank), (handle) -> handle != null);
	}

	private ProcessHandle childOfRank(int rank) {
		return this.process.descendants().filter((handle) -> isRank(handle, rank)).findFirst().orElse(null);
	}

	private static boolean isRank(ProcessHandle handle, int rank) {
		try {
			byte[] environment = java.nio.file.Files
				.readAllBytes(Path.of("/proc", String.valueOf(handle.pid()), "environ"));
			return ("\0" + new String(environment, StandardCharsets.UTF_8)).contains("\0RANK=" + rank + "\0");
		}
		catch (IOException ex) {
			return false;
		}
	}

	/** All descendants of this process. */
	List<ProcessHandle> descendants() {
		return this.process.descendants().toList();
	}

	ProcessHandle handle() {
		return this.process.toHandle();
	}

	/** Sends a signal by name. */
	static void signal(ProcessHandle handle, String signal) throws IOException, InterruptedException {
		new ProcessBuilder("kill", "-" + signal, String.valueOf(handle.pid())).start().waitFor();
	}

	@Override
	public void close() {
		List<ProcessHandle> all = descendants();
		this.process.destroyForcibly();
		all.forEach(ProcessHandle::destroyForcibly);
	}

}
