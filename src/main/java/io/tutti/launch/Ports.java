package io.tutti.launch;

import io.tutti.BadConfigurationException;

/**
 * The range of port numbers.
 */
public final class Ports {

	private Ports() {
	}

	/** Checks a port, 0 meaning the kernel's choice. */
	public static void require(String name, int port) {
		if (port < 0 || port > WholeNumber.MAX_PORT) {
			throw new IllegalArgumentException(name + " must be in 0.." + WholeNumber.MAX_PORT + ", got " + port);
		}
	}

	/**
	 * The port of the rank with this local rank, 0 if the kernel chooses it.
	 * @throws BadConfigurationException if there is no such port
	 */
	public static int plus(String property, int port, int localRank) {
		int last = WholeNumber.MAX_PORT - localRank;
		if (port > last) {
			throw new BadConfigurationException(property + "=" + port + " plus local rank " + localRank
					+ " exceeds the highest port, " + WholeNumber.MAX_PORT,
					"Set " + property + " to " + last + " or less, or to 0");
		}
		return (port == 0) ? 0 : port + localRank;
	}

}
