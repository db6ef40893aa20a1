package io.tutti.launch;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Arrays;
import java.util.Objects;
import java.util.stream.Stream;

import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.bootstrap.Endpoint;
import io.tutti.engine.elastic.ElasticSettings;
import org.jspecify.annotations.Nullable;

/**
 * Decides whether processes on other hosts can reach the rendezvous of a job.
 */
public final class RendezvousExposure {

	private RendezvousExposure() {
	}

	/**
	 * The address at which the rendezvous is reachable beyond this host. All ranks of a
	 * group decide alike, so that no rank waits for one that refused to start. A group of
	 * one does not listen. Uses the name service.
	 * @param bindAddress where rank 0 listens, {@code null} for the master address
	 * @return the address, {@code null} if there is none
	 */
	public static @Nullable String beyondThisHost(RankAssignment assignment, @Nullable String bindAddress) {
		return (assignment.worldSize() > 1)
				? firstBeyondThisHost(Stream.of((bindAddress != null) ? bindAddress : assignment.masterAddress()))
				: null;
	}

	/**
	 * As above for an elastic job. Each of its ranks listens, also a single one, and each
	 * may become rank 0.
	 */
	public static @Nullable String beyondThisHost(ElasticSettings elastic, EngineSettings engine) {
		return firstBeyondThisHost(Stream.concat(elastic.endpoints().stream().map(Endpoint::host),
				Stream.of(engine.bindAddress(), engine.dataAddress())));
	}

	private static @Nullable String firstBeyondThisHost(Stream<@Nullable String> addresses) {
		return addresses.filter(Objects::nonNull).filter((address) -> !isLoopback(address)).findFirst().orElse(null);
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
