package io.tutti.engine.transport.shm;

import java.nio.file.Path;

/**
 * Settings for shared memory between ranks of one host.
 *
 * @param enabled whether to use shared memory
 * @param directory a memory-backed directory for the segments
 * @param jobId name of the job; part of the file names, hashed
 */
public record SharedMemorySettings(boolean enabled, Path directory, String jobId) {

	/** Linux's directory for shared memory. */
	public static final Path DEFAULT_DIRECTORY = Path.of("/dev/shm");

	/** Shared memory in the default directory. */
	public static SharedMemorySettings of(String jobId) {
		return new SharedMemorySettings(true, DEFAULT_DIRECTORY, jobId);
	}

	/** No shared memory. */
	public static SharedMemorySettings disabled() {
		return new SharedMemorySettings(false, DEFAULT_DIRECTORY, "");
	}

}
