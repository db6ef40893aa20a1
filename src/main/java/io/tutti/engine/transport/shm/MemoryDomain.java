package io.tutti.engine.transport.shm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Identifies the memory that a rank can map. Ranks with equal domains may share memory;
 * the handshake verifies it.
 *
 * @param boot id of the machine's boot
 * @param device number of the device that holds the memory directory
 */
record MemoryDomain(String boot, long device) {

	static MemoryDomain of(Path directory) throws IOException {
		String boot = Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).trim();
		return new MemoryDomain(boot, ((Number) Files.getAttribute(directory, "unix:dev")).longValue());
	}

}
