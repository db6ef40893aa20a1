package io.tutti.engine.elastic;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;

import io.tutti.BackendUnavailableException;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.Backends;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.bootstrap.Endpoint;

/**
 * Settings of an elastic job.
 *
 * @param minRanks minimum number of ranks of a generation, at least 1
 * @param settle how long a formation waits for more ranks than it needs; zero for not at
 * all
 * @param maxFailures losses of ranks that a process sees before it ends, 0 for no limit;
 * a process that joins counts from 0
 * @param quorum which members of the last generation count
 * @param endpoints formation endpoint of each slot; their number is the maximum number of
 * ranks
 */
public record ElasticSettings(int minRanks, Duration settle, int maxFailures, QuorumRule quorum,
		List<Endpoint> endpoints) {

	/** Which members of the last generation count for a quorum. */
	public enum QuorumRule {

		/** Members that are known to be dead do not count. */
		LIVE,
		/** All members count, for networks whose middleboxes reset connections. */
		STRICT

	}

	public ElasticSettings {
		endpoints = List.copyOf(endpoints);
		if (endpoints.isEmpty()) {
			throw new IllegalArgumentException("tutti.elastic.endpoints must name the endpoint of each rank: "
					+ "start the job with launch --min-ranks, or list host:port for each rank, separated by commas");
		}
		if (endpoints.stream().distinct().count() < endpoints.size()) {
			throw new IllegalArgumentException("tutti.elastic.endpoints must differ, got " + endpoints);
		}
		if (minRanks < 1 || minRanks > endpoints.size()) {
			throw new IllegalArgumentException("tutti.elastic.min-ranks must be in 1.." + endpoints.size()
					+ " (the number of endpoints), got " + minRanks);
		}
		if (settle.isNegative()) {
			throw new IllegalArgumentException("tutti.elastic.settle must not be negative, got " + settle);
		}
		if (maxFailures < 0) {
			throw new IllegalArgumentException("tutti.elastic.max-failures must not be negative, got " + maxFailures);
		}
	}

	/**
	 * These settings, with which a formation waits for others and then continues before
	 * its deadline.
	 * @throws IllegalArgumentException if it would reach the deadline although enough
	 * ranks are present
	 */
	public ElasticSettings within(Timeouts timeouts) {
		requireBefore(timeouts.rendezvous(), "tutti.elastic.settle", this.settle);
		requireBefore(timeouts.rendezvous(), "tutti.timeout.heartbeat", timeouts.heartbeat());
		return this;
	}

	private static void requireBefore(Duration rendezvous, String name, Duration wait) {
		if (wait.compareTo(rendezvous) >= 0) {
			throw new IllegalArgumentException(name + " (" + wait + ") must be less than tutti.timeout.rendezvous ("
					+ rendezvous + ") in an elastic job: the remaining ranks wait so long for others before they"
					+ " continue without them");
		}
	}

	/** Maximum number of ranks. */
	public int maxRanks() {
		return this.endpoints.size();
	}

	/** Parses endpoints that are separated by commas; a blank text has none. */
	public static List<Endpoint> endpoints(String text) {
		return text.isBlank() ? List.of()
				: Arrays.stream(text.split(",")).map(String::strip).map(Endpoint::parse).toList();
	}

	/**
	 * The endpoints of the slots that a job may use.
	 * @param maxRanks most ranks of the job
	 * @param worldSize number of ranks that found it
	 * @throws IllegalArgumentException if the maximum is less than the world size or
	 * exceeds the endpoints
	 */
	public static List<Endpoint> limited(List<Endpoint> all, int maxRanks, int worldSize) {
		if (all.isEmpty()) {
			return all;
		}
		if (maxRanks < worldSize || maxRanks > all.size()) {
			throw new IllegalArgumentException("tutti.elastic.max-ranks must be in " + worldSize + " (the world size).."
					+ all.size() + " (the number of endpoints), got " + maxRanks);
		}
		return all.subList(0, maxRanks);
	}

	/**
	 * Checks that the engine can continue without lost ranks.
	 * @throws BackendUnavailableException if it cannot
	 */
	public static void requireSupported(EngineSettings settings) {
		String action = "Use the built-in engine, or unset tutti.elastic.min-ranks";
		if (settings.mpiLibrary() != null) {
			throw BackendUnavailableException.inElasticJob(settings.backend(),
					"the MPI library " + settings.mpiLibrary() + " ends the job when a rank is lost", action);
		}
		if (!settings.backend().equals(Backends.TCP) && !settings.backend().equals(Backends.MPI)) {
			throw BackendUnavailableException.inElasticJob(settings.backend(),
					"backend " + settings.backend() + " cannot continue without a lost rank", action);
		}
	}

}
