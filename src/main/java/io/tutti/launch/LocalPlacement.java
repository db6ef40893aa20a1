package io.tutti.launch;

import java.util.Locale;

import org.jspecify.annotations.Nullable;

/**
 * A process's local rank and local world size, derived where the launcher does not give
 * them.
 * <p>
 * Neither given: if the master address is loopback or not given, all ranks are on one
 * host and the local rank is the rank; otherwise each rank counts as the only one on its
 * host. Only the local world size given: ranks fill hosts one after another. Only the
 * local rank given: all ranks are on one host if it equals the rank and the master
 * address is loopback or not given; otherwise the host holds at least the local ranks up
 * to it.
 *
 * @param localRank rank among the ranks of this host
 * @param localWorldSize ranks on this host
 */
record LocalPlacement(int localRank, int localWorldSize) {

	static LocalPlacement complete(DeclaredLocalRank claim, int rank, int worldSize, @Nullable String masterAddress) {
		boolean oneHost = masterAddress == null || isLoopback(masterAddress);
		Integer localRank = claim.localRank();
		Integer localWorldSize = claim.localWorldSize();
		if (localWorldSize != null) {
			return new LocalPlacement((localRank != null) ? localRank : rank % localWorldSize, localWorldSize);
		}
		if (localRank != null) {
			return new LocalPlacement(localRank, (oneHost && localRank == rank) ? worldSize : localRank + 1);
		}
		return oneHost ? new LocalPlacement(rank, worldSize) : new LocalPlacement(0, 1);
	}

	/** Compares the text only, since a look-up by the name service could hang. */
	private static boolean isLoopback(String address) {
		String host = address.toLowerCase(Locale.ROOT);
		return host.equals("localhost") || host.startsWith("127.") || host.equals("::1") || host.equals("[::1]");
	}

}
