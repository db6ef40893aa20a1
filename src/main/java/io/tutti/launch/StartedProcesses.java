package io.tutti.launch;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
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

	/** Sends SIGKILL to them and their child processes. */
	void kill() {
		List<ProcessHandle> found = ProcessHandle.allProcesses()
			.filter(this::inherits)
			.flatMap((process) -> Stream.concat(Stream.of(process), process.descendants()))
			.toList();
		found.forEach(ProcessHandle::destroyForcibly);
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
