package io.tutti.launch;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;

import io.tutti.engine.RankAssignment;
import org.jspecify.annotations.Nullable;

/**
 * Whether others than this host's own processes could come to where ranks meet.
 */
public final class RendezvousExposure {

	private RendezvousExposure() {
	}

	/**
	 * Every rank of a group decides alike, so that none waits for one that refused. A
	 * rank alone listens nowhere. Asks the name service.
	 * @param bindAddress where rank 0 listens, {@code null} for the meeting point's own
	 * address
	 */
	public static boolean beyondThisHost(RankAssignment assignment, @Nullable String bindAddress) {
		return assignment.worldSize() > 1
				&& !isLoopback((bindAddress != null) ? bindAddress : assignment.masterAddress());
	}

	/** A name that nobody knows yet may come to stand for any address. */
	private static boolean isLoopback(String address) {
		try {
			return Arrays.stream(InetAddress.getAllByName(address)).allMatch(InetAddress::isLoopbackAddress);
		}
		catch (UnknownHostException ex) {
			return false;
		}
	}

}
