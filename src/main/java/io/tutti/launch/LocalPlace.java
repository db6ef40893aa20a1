package io.tutti.launch;

import java.util.Locale;

import org.jspecify.annotations.Nullable;

/**
 * A process's place on its host, completed where the launcher left gaps.
 * <p>
 * Nothing known: if ranks meet on loopback, or nobody said where, all are on one host and
 * the local rank is the rank; if they meet elsewhere, each counts as the only one of its
 * host. Only the local world size known: ranks fill hosts one after another. Only the
 * local rank known: all are on one host if it equals the rank and ranks meet on loopback
 * or nobody said where; else the host holds at least the local ranks up to it.
 *
 * @param localRank place among the ranks of this host
 * @param localWorldSize ranks on this host
 */
record LocalPlace(int localRank, int localWorldSize) {

	static LocalPlace complete(LocalClaim claim, int rank, int worldSize, @Nullable String masterAddress) {
		boolean oneHost = masterAddress == null || isLoopback(masterAddress);
		Integer localRank = claim.localRank();
		Integer localWorldSize = claim.localWorldSize();
		if (localWorldSize != null) {
			return new LocalPlace((localRank != null) ? localRank : rank % localWorldSize, localWorldSize);
		}
		if (localRank != null) {
			return new LocalPlace(localRank, (oneHost && localRank == rank) ? worldSize : localRank + 1);
		}
		return oneHost ? new LocalPlace(rank, worldSize) : new LocalPlace(0, 1);
	}

	/** By the text alone: asking the name service here could hang. */
	private static boolean isLoopback(String address) {
		String host = address.toLowerCase(Locale.ROOT);
		return host.equals("localhost") || host.startsWith("127.") || host.equals("::1") || host.equals("[::1]");
	}

}
