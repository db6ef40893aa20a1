package io.tutti.engine.transport.shm;

import java.nio.file.Path;

/**
 * Settings for shared memory between ranks of one host.
 *
 * @param directory a memory-backed directory for the segments
 * @param jobId name of the job; part of the file names, hashed
 * @param attach whether ranks may read each other's private memory where the kernel
 * permits it (cross-memory attach)
 */
public record SharedMemorySettings(Path directory, String jobId, boolean attach) {

	/** Linux's directory for shared memory. */
	public static final Path DEFAULT_DIRECTORY = Path.of("/dev/shm");

	public SharedMemorySettings(Path directory, String jobId) {
		this(directory, jobId, true);
	}

	/** Shared memory in the default directory. */
	public static SharedMemorySettings of(String jobId) {
		return new SharedMemorySettings(DEFAULT_DIRECTORY, jobId);
	}

}
