package io.tutti.testing;

import java.time.Duration;

import io.tutti.engine.ProcessGroup;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.SimulatedWorld;

/**
 * The groups of a test's ranks.
 */
interface RankWorld extends AutoCloseable {

	/** The group as a rank sees it; called on the rank's own thread, which may wait. */
	ProcessGroup group(int rank);

	@Override
	void close();

	/**
	 * A world whose calls end before the limit, so that they say whom they waited for.
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
