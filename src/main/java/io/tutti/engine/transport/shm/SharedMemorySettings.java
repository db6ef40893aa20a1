package io.tutti.engine.transport.shm;

import java.nio.file.Path;

/**
 * Whether and where ranks of one host share memory.
 *
 * @param enabled whether to try at all
 * @param directory a directory in memory, where segments are made
 * @param jobId name of the job; part of the file names, hashed
 */
public record SharedMemorySettings(boolean enabled, Path directory, String jobId) {

	/** Where Linux keeps shared memory. */
	public static final Path DEFAULT_DIRECTORY = Path.of("/dev/shm");

	/** Shared memory in its usual place. */
	public static SharedMemorySettings of(String jobId) {
		return new SharedMemorySettings(true, DEFAULT_DIRECTORY, jobId);
	}

	/** No shared memory. */
	public static SharedMemorySettings disabled() {
		return new SharedMemorySettings(false, DEFAULT_DIRECTORY, "");
	}

}
