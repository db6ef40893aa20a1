package io.tutti.launch;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The processes that a rank, or every rank of a launcher, has started. They inherit its
 * variables, by which they are found also when the rank has ended and is no longer their
 * parent.
 */
final class StartedProcesses {

	/**
	 * How long killed processes may take to end, which is milliseconds unless the system
	 * holds one.
	 */
	private static final Duration LIMIT = Duration.ofSeconds(2);

	private static final Duration PAUSE = Duration.ofMillis(10);

	private final Set<String> entries;

	/**
	 * @param environment the environment of the rank
	 * @param names the variables in it by which the processes are found
	 */
	StartedProcesses(Map<String, String> environment, String... names) {
		this.entries = Stream.of(names)
			.map((name) -> name + "=" + environment.get(name))
			.collect(Collectors.toUnmodifiableSet());
	}

	/**
	 * Kills them and their child processes, and waits until they have ended: until then
	 * they may hold locks, ports and memory of a device. One that the system does not end
	 * within {@link #LIMIT} is left, and so are all once the thread is interrupted.
	 */
	void kill() {
		long endNanos = System.nanoTime() + LIMIT.toNanos();
		try {
			for (List<ProcessHandle> found = find(); !found.isEmpty()
					&& System.nanoTime() - endNanos < 0; found = find()) {
				found.forEach(ProcessHandle::destroyForcibly);
				Thread.sleep(PAUSE);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	/** Processes that have ended and not been reaped yet have no environment any more. */
	private List<ProcessHandle> find() {
		return ProcessHandle.allProcesses()
			.filter(this::inherits)
			.flatMap((process) -> Stream.concat(Stream.of(process), process.descendants()))
			.toList();
	}

	private boolean inherits(ProcessHandle process) {
		try {
			String environment = Files.readString(Path.of("/proc", Long.toString(process.pid()), "environ"),
					StandardCharsets.ISO_8859_1);
			return List.of(environment.split("\0")).containsAll(this.entries);
		}
		catch (IOException ex) {
			return false;
		}
	}

}
