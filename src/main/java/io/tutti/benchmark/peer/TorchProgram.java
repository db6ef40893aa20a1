package io.tutti.benchmark.peer;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

import io.tutti.engine.FailureReason;

/**
 * Runs a bundled Python program with the first {@code python3} of the search path that
 * has PyTorch with {@code torch.distributed}, over TCP and with an allocator that keeps
 * freed memory. A run that is not possible is omitted and reported in one line.
 */
public final class TorchProgram {

	/** Name in output. */
	public static final String LABEL = "c10d-gloo";

	private static final List<String> PROBE = List.of("-c", "import torch.distributed as d; assert d.is_available()");

	/** A cold import of PyTorch reads hundreds of megabytes. */
	private static final Duration PROBE_LIMIT = Duration.ofSeconds(60);

	private final String source;

	private final String congestionControl;

	private final SearchPath path;

	private final BoundedProcess process;

	private final PeerBuild build;

	private final Consumer<String> notes;

	/**
	 * A program.
	 * @param source name of the bundled program
	 * @param congestionControl of its TCP connections, {@code system} to leave it alone
	 * @param directory directory in which a library that sets it is built
	 * @param notes receives why a run was omitted
	 */
	public TorchProgram(String source, String congestionControl, Path directory, Consumer<String> notes) {
		this(source, congestionControl, directory, SearchPath.ofThisProcess(), notes);
	}

	TorchProgram(String source, String congestionControl, Path directory, SearchPath path, Consumer<String> notes) {
		this.source = source;
		this.congestionControl = congestionControl;
		this.path = path;
		this.process = new BoundedProcess(path);
		this.build = new PeerBuild(directory, path, this.process);
		this.notes = notes;
	}

	/** Maximum time of {@link #run} with that limit. */
	public static Duration limit(Duration run) {
		return run.plus(PROBE_LIMIT.multipliedBy(4)).plus(PeerBuild.LIMIT);
	}

	/**
	 * Runs the program.
	 * @param environment variables added to those of this process
	 * @param limit time after which it is killed
	 * @return the lines of its output, up to a failure
	 */
	public List<String> run(List<String> arguments, Map<String, String> environment, Duration limit)
			throws InterruptedException {
		try (TemporaryDirectory directory = TemporaryDirectory.create();
				InputStream stream = TorchProgram.class.getResourceAsStream("/bench/" + this.source)) {
			String python = python();
			if (stream == null) {
				throw new IOException("the program /bench/" + this.source + " is missing from the class path");
			}
			Path copy = directory.path().resolve(this.source);
			Files.write(copy, stream.readAllBytes());
			List<String> command = new ArrayList<>(List.of(python, copy.toString()));
			command.addAll(arguments);
			ProcessOutcome outcome = this.process.run(command, with(environment), limit);
			if (!outcome.succeeded()) {
				this.notes.accept(LABEL + " failed: " + outcome.reason());
			}
			return outcome.output();
		}
		catch (PeerUnavailableException ex) {
			this.notes.accept(LABEL + " skipped: " + ex.getMessage());
			return List.of();
		}
		catch (IOException ex) {
			this.notes.accept(LABEL + " failed: " + FailureReason.of(ex));
			return List.of();
		}
	}

	private Map<String, String> with(Map<String, String> environment)
			throws PeerUnavailableException, IOException, InterruptedException {
		Map<String, String> all = new HashMap<>(environment);
		all.putAll(PeerVariants.KEEP_FREED_MEMORY);
		CongestionControlShim.environment(this.congestionControl, this.build)
			.forEach((name, value) -> all.merge(name, value, (one, other) -> one + ":" + other));
		return all;
	}

	private String python() throws PeerUnavailableException, IOException, InterruptedException {
		List<Path> found = this.path.directories()
			.stream()
			.map((directory) -> directory.resolve("python3"))
			.filter(Files::isExecutable)
			.limit(4)
			.toList();
		for (Path python : found) {
			List<String> command = new ArrayList<>(List.of(python.toString()));
			command.addAll(PROBE);
			if (this.process.run(command, Map.of(), PROBE_LIMIT).succeeded()) {
				return python.toString();
			}
		}
		throw new PeerUnavailableException(
				found.isEmpty() ? "python3 is not installed" : "no python3 on the PATH has PyTorch with Gloo");
	}

}
