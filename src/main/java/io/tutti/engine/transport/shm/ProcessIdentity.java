package io.tutti.engine.transport.shm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Identifies a process of this machine. The start time distinguishes it from a later
 * process with the same pid, the namespace from a process of another container.
 *
 * @param pid number of the process in its namespace
 * @param startTicks clock ticks from boot to its start
 * @param namespace inode of its process namespace, 0 if unknown
 */
record ProcessIdentity(long pid, long startTicks, long namespace) {

	/**
	 * Index of the start time in /proc/PID/stat, counted from the field after the name.
	 */
	private static final int START_FIELD = 19;

	/** This process. */
	static ProcessIdentity current() throws IOException {
		long pid = ProcessHandle.current().pid();
		return new ProcessIdentity(pid, startTicks(pid), namespace("pid"));
	}

	/**
	 * Whether the process is known to have ended. A process of another namespace is not
	 * visible and counts as alive.
	 */
	boolean dead() {
		if (this.namespace != namespace("pid")) {
			return false;
		}
		try {
			return startTicks(this.pid) != this.startTicks;
		}
		catch (IOException ex) {
			return !Files.exists(Path.of("/proc", Long.toString(this.pid)));
		}
	}

	private static long startTicks(long pid) throws IOException {
		String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
		String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
		return Long.parseLong(fields[START_FIELD]);
	}

	/** Inode of this process's namespace of a kind, 0 if unknown. */
	static long namespace(String kind) {
		try {
			String link = Files.readSymbolicLink(Path.of("/proc/self/ns", kind)).toString();
			return Long.parseLong(link.substring(link.indexOf('[') + 1, link.length() - 1));
		}
		catch (IOException | RuntimeException ex) {
			return 0;
		}
	}

}
