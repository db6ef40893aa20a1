package io.tutti.launch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Tests whether a process runs. Java reports a zombie (dead, but not yet reaped) as
 * alive, so it is excluded.
 */
final class LiveProcess {

	private LiveProcess() {
	}

	static boolean is(ProcessHandle process) {
		return process.isAlive() && !isZombie(process.pid());
	}

	private static boolean isZombie(long pid) {
		try {
			String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
			return stat.startsWith("Z", stat.lastIndexOf(')') + 2);
		}
		catch (IOException ex) {
			return false;
		}
	}

}
