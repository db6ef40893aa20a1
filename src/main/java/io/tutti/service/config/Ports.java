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

	/**
	 * The port of the rank with this local rank, 0 if the kernel chooses it.
	 * @throws ConfigurationException if there is no such port
	 */
	static int plus(String property, int port, int localRank) {
		if (port > LAST - localRank) {
			throw new ConfigurationException(
					property + "=" + port + " plus local rank " + localRank + " exceeds the highest port, " + LAST,
					"Set " + property + " to " + (LAST - localRank) + " or less, or to 0");
		}
		return (port == 0) ? 0 : port + localRank;
	}

}
