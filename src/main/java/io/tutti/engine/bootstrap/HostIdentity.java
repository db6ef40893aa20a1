package io.tutti.engine.bootstrap;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Identifies a host by the kernel's boot id and the host name. Containers of one machine
 * share the first and differ in the second.
 */
public final class HostIdentity {

	private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");

	private static final Path HOST_NAME = Path.of("/proc/sys/kernel/hostname");

	private HostIdentity() {
	}

	/** This host's identity. */
	public static String ofThisHost() {
		return read(BOOT_ID) + "/" + hostName();
	}

	private static String hostName() {
		String name = read(HOST_NAME);
		if (!name.isEmpty()) {
			return name;
		}
		try {
			return InetAddress.getLocalHost().getHostName();
		}
		catch (UnknownHostException ex) {
			return "";
		}
	}

	private static String read(Path file) {
		try {
			return Files.readString(file).strip();
		}
		catch (IOException ex) {
			return "";
		}
	}

}
