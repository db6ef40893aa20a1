package io.tutti.service.config;

/**
 * The range of port numbers.
 */
final class Ports {

	static final int LAST = 65535;

	private Ports() {
	}

	/** Checks a port, 0 meaning the kernel's choice. */
	static void require(String name, int port) {
		if (port < 0 || port > LAST) {
			throw new IllegalArgumentException(name + " must be in 0.." + LAST + ", got " + port);
		}
	}

}
