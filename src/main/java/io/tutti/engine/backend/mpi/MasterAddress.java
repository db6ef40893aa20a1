package io.tutti.engine.backend.mpi;

import io.tutti.engine.RankAssignment;

/**
 * Parses {@code host:port}.
 */
final class MasterAddress {

	private MasterAddress() {
	}

	/**
	 * The assignment of a rank whose rendezvous is at this address; local rank and local
	 * world size equal the global ones.
	 * @throws IllegalArgumentException if the text is not an address
	 */
	static RankAssignment assignment(int rank, int worldSize, String text) {
		String address = text.strip();
		int bracket = address.indexOf(']');
		int colon = address.indexOf(':', Math.max(0, bracket));
		boolean bareIpv6 = bracket < 0 && colon >= 0 && address.indexOf(':', colon + 1) >= 0;
		if (address.startsWith("[") != bracket >= 0 || bareIpv6 || colon == 0 || address.isEmpty()) {
			throw malformed(text);
		}
		String host = (colon < 0) ? address : address.substring(0, colon);
		int port = (colon < 0) ? RankAssignment.DEFAULT_MASTER_PORT : port(address.substring(colon + 1), text);
		return new RankAssignment(rank, worldSize, rank, worldSize, host.replace("[", "").replace("]", ""), port);
	}

	private static int port(String digits, String text) {
		try {
			int port = Integer.parseInt(digits);
			if (port >= 1 && port <= 65535) {
				return port;
			}
		}
		catch (NumberFormatException ex) {
			throw malformed(text);
		}
		throw malformed(text);
	}

	private static IllegalArgumentException malformed(String text) {
		return new IllegalArgumentException("master address must be host or host:port with a port in 1..65535, and "
				+ "an IPv6 address in brackets, got " + text);
	}

}
