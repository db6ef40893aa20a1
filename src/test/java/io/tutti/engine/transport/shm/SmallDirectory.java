package io.tutti.engine.transport.shm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * A memory-backed directory of one MiB. Tests that need it are skipped if this user may
 * not mount one.
 */
public final class SmallDirectory implements AutoCloseable {

	private final Path path;

	private SmallDirectory(Path path) {
		this.path = path;
	}

	/** Mounts the file system below a directory. */
	public static SmallDirectory mount(Path parent) throws IOException {
		Path path = Files.createDirectory(parent.resolve("small"));
		assumeTrue(run("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", path.toString()),
				"only a user who may mount a file system can try one that is full");
		return new SmallDirectory(path);
	}

	public Path path() {
		return this.path;
	}

	@Override
	public void close() throws IOException {
		run("umount", "-l", this.path.toString());
	}

	private static boolean run(String... command) throws IOException {
		Process process = new ProcessBuilder(command).redirectErrorStream(true)
			.redirectOutput(ProcessBuilder.Redirect.DISCARD)
			.start();
		try {
			return process.waitFor(10, TimeUnit.SECONDS) && process.exitValue() == 0;
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return false;
		}
	}

}
