package io.tutti.launch;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;

import io.tutti.engine.RankAssignment;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether processes on other hosts can reach the rendezvous address.
 */
public final class RendezvousExposure {

	private RendezvousExposure() {
	}

	/**
	 * Whether the rendezvous is reachable beyond this host. All ranks of a group decide
	 * alike, so that no rank waits for one that refused to start. A group of one does not
	 * listen. Uses the name service.
	 * @param bindAddress where rank 0 listens, {@code null} for the master address
	 */
	public static boolean beyondThisHost(RankAssignment assignment, @Nullable String bindAddress) {
		return assignment.worldSize() > 1
				&& !isLoopback((bindAddress != null) ? bindAddress : assignment.masterAddress());
	}

	/**
	 * An unresolvable name is not loopback, since it may resolve to any address later.
	 */
	private static boolean isLoopback(String address) {
		try {
			return Arrays.stream(InetAddress.getAllByName(address)).allMatch(InetAddress::isLoopbackAddress);
		}
		catch (UnknownHostException ex) {
			return false;
		}
	}

}
