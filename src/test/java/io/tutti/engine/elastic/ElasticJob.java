package io.tutti.engine.elastic;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.tutti.FreePort;
import io.tutti.TestJvm;

/**
 * The processes of one elastic job, one for each slot.
 */
public final class ElasticJob implements AutoCloseable {

	/** The file that ends the job. */
	private static final String STOP = "stop";

	private final Path folder;

	private final int founding;

	/** Options of the virtual machine, the class, and its arguments. */
	private final List<String> program;

	private final Map<String, String> environment = new LinkedHashMap<>();

	private final Map<Integer, Process> processes = new LinkedHashMap<>();

	private final Map<Integer, Integer> starts = new LinkedHashMap<>();

	/** Wraps the command of a slot, for example to run it on another host. */
	private BiFunction<Integer, List<String>, List<String>> place = (slot, command) -> command;

	public ElasticJob(Path folder, int founding, int maxRanks, long steps, long pauseMillis) {
		this(folder, founding, maxRanks,
				List.of(ElasticProcess.class.getName(), "" + steps, "" + pauseMillis, "" + folder.resolve(STOP)));
	}

	/** A job of another program. */
	public ElasticJob(Path folder, int founding, int maxRanks, List<String> program) {
		this.folder = folder;
		this.founding = founding;
		this.program = program;
		this.environment.put("TUTTI_ELASTIC_ENDPOINTS",
				Stream.generate(() -> "127.0.0.1:" + FreePort.next()).limit(maxRanks).collect(Collectors.joining(",")));
		this.environment.put("MASTER_ADDR", "127.0.0.1");
		this.environment.put("MASTER_PORT", "" + FreePort.next());
		this.environment.put("TUTTI_ELASTIC_MIN_RANKS", "1");
		this.environment.put("TUTTI_TIMEOUT_RENDEZVOUS", "60s");
		this.environment.put("TUTTI_TIMEOUT_HEARTBEAT", "4s");
		this.environment.put("TUTTI_TIMEOUT_ABORT", "2s");
	}

	public ElasticJob with(String variable, String value) {
		this.environment.put(variable, value);
		return this;
	}

	public ElasticJob on(BiFunction<Integer, List<String>, List<String>> hosts) {
		this.place = hosts;
		return this;
	}

	public ElasticJob startAll() throws IOException {
		for (int slot = 0; slot < this.founding; slot++) {
			start(slot);
		}
		return this;
	}

	public void start(int slot) throws IOException {
		this.starts.merge(slot, 1, Integer::sum);
		List<String> command = TestJvm.command("-cp", classPath());
		command.addAll(this.program);
		ProcessBuilder builder = new ProcessBuilder(this.place.apply(slot, command));
		builder.environment().keySet().removeIf((name) -> name.startsWith("TUTTI_"));
		builder.environment().putAll(this.environment);
		builder.environment().putAll(Map.of("RANK", "" + slot, "WORLD_SIZE", "" + Math.max(this.founding, slot + 1)));
		builder.redirectError(errors(slot).toFile()).redirectOutput(output(slot).toFile());
		this.processes.put(slot, builder.start());
	}

	private static String classPath() {
		return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
			.map((entry) -> Path.of(entry).toAbsolutePath().toString())
			.collect(Collectors.joining(File.pathSeparator));
	}

	private Path output(int slot) {
		return this.folder.resolve("out-" + slot + "-" + this.starts.get(slot));
	}

	private Path errors(int slot) {
		return this.folder.resolve("err-" + slot + "-" + this.starts.get(slot));
	}

	public Process process(int slot) {
		return this.processes.get(slot);
	}

	/** Sends a signal to the process of a slot. */
	public void signal(int slot, String name) throws Exception {
		ProcessHandle target = this.processes.get(slot).toHandle();
		Process kill = new ProcessBuilder("kill", "-" + name, "" + target.pid()).start();
		if (!kill.waitFor(10, TimeUnit.SECONDS) || kill.exitValue() != 0) {
			throw new IOException("kill failed");
		}
	}

	/** Lets the ranks end after the next step that they complete. */
	public void stop() throws IOException {
		Files.createFile(this.folder.resolve(STOP));
	}

	public List<String> lines(int slot) {
		try {
			return Files.exists(output(slot)) ? Files.readAllLines(output(slot)) : List.of();
		}
		catch (IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** The last step that a slot has printed. */
	public long step(int slot) {
		return lines(slot).reversed()
			.stream()
			.filter((line) -> line.startsWith("step ") && line.contains(" at "))
			.findFirst()
			.map((line) -> Long.valueOf(line.split(" ")[1]))
			.orElse(0L);
	}

	/** The time of the first step of a slot that ended after a time, 0 for none. */
	public long stepAfter(int slot, long millis) {
		return lines(slot).stream()
			.filter((line) -> line.startsWith("step ") && line.matches(".* at \\d{13}"))
			.mapToLong((line) -> Long.parseLong(line.substring(line.lastIndexOf(' ') + 1)))
			.filter((at) -> at > millis)
			.min()
			.orElse(0);
	}

	public void await(String what, Duration limit, BooleanSupplier condition) throws Exception {
		long end = System.nanoTime() + limit.toNanos();
		while (!condition.getAsBoolean()) {
			if (System.nanoTime() > end) {
				throw new AssertionError(what + " did not happen within " + limit + "\n" + report());
			}
			Thread.sleep(20);
		}
	}

	/** Waits until a slot's process ends, and returns its exit code. */
	public int exitCode(int slot, Duration limit) throws Exception {
		if (!this.processes.get(slot).waitFor(limit.toMillis(), TimeUnit.MILLISECONDS)) {
			throw new AssertionError("slot " + slot + " did not end\n" + report());
		}
		return this.processes.get(slot).exitValue();
	}

	public String report() throws IOException {
		StringBuilder text = new StringBuilder();
		for (int slot : this.processes.keySet()) {
			List<String> lines = lines(slot).stream().filter((line) -> !line.startsWith("step ")).toList();
			text.append("slot ").append(slot).append(" at step ").append(step(slot)).append(": ").append(lines);
			text.append("\n")
				.append(Files.readString(errors(slot)), 0, (int) Math.min(3000, Files.size(errors(slot))))
				.append("\n");
		}
		return text.toString();
	}

	@Override
	public void close() {
		this.processes.values().forEach((process) -> {
			process.descendants().forEach(ProcessHandle::destroyForcibly);
			process.destroyForcibly();
		});
	}

}
