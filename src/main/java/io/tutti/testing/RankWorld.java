package io.tutti.testing;

import java.time.Duration;

import io.tutti.ProcessGroup;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.SimulatedWorld;

/**
 * Provides the process groups of a test's ranks.
 */
interface RankWorld extends AutoCloseable {

	/**
	 * The group of a rank. Called on the rank's own thread; may block until all ranks
	 * have joined.
	 */
	ProcessGroup group(int rank);

	@Override
	void close();

	/**
	 * Creates a world whose collectives time out before the limit, so that errors name
	 * the missing ranks.
	 */
	static RankWorld of(RankTransport transport, int worldSize, Duration limit) {
		Duration abort = (limit.compareTo(Timeouts.DEFAULTS.abort()) < 0) ? limit : Timeouts.DEFAULTS.abort();
		Duration collective = limit.multipliedBy(4).dividedBy(5);
		Timeouts timeouts = new Timeouts(limit, collective, limit, abort, limit);
		return switch (transport) {
			case SIMULATED -> simulated(new SimulatedWorld(worldSize, timeouts));
			case TCP -> new TcpRankWorld(worldSize, timeouts);
		};
	}

	private static RankWorld simulated(SimulatedWorld world) {
		return new RankWorld() {
			@Override
			public ProcessGroup group(int rank) {
				return world.group(rank);
			}

			@Override
			public void close() {
				world.close();
			}
		};
	}

}
