package io.tutti.engine.backend;

import java.time.Duration;
import java.util.List;

import io.tutti.CollectiveListener;
import io.tutti.FreePort;
import io.tutti.ProcessGroup;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.Timeouts;
import io.tutti.engine.algorithm.AlgorithmOverrides;
import io.tutti.engine.backend.DepartureContract.DepartingWorld;
import io.tutti.engine.tls.Tls;

/**
 * Groups of ranks in threads of this JVM, by transport.
 */
final class Worlds {

	private static final Duration LIMIT = Duration.ofSeconds(30);

	static final Timeouts TIMEOUTS = new Timeouts(LIMIT, LIMIT, LIMIT, Duration.ofSeconds(2), LIMIT);

	private Worlds() {
	}

	static DepartingWorld simulated(int worldSize) {
		return simulated(worldSize, TIMEOUTS);
	}

	static DepartingWorld simulated(int worldSize, Timeouts timeouts) {
		SimulatedWorld world = new SimulatedWorld(worldSize, timeouts);
		return new DepartingWorld() {
			@Override
			public ProcessGroup group(int rank) {
				return world.group(rank);
			}

			@Override
			public void leave(int rank) {
				world.group(rank).leave();
				world.control(rank).close();
			}

			@Override
			public void close() {
				world.close();
			}
		};
	}

	static DepartingWorld tcp(int worldSize) throws Exception {
		return tls(worldSize, null);
	}

	/** Through shared memory. */
	static DepartingWorld memory(int worldSize) throws Exception {
		return joined(worldSize, TransportChoice.SHM, null, TIMEOUTS);
	}

	/** Through shared memory; no rank reads the private memory of another. */
	static DepartingWorld memoryWithoutAttach(int worldSize) throws Exception {
		return joined(worldSize, new SharedConfig(TransportChoice.SHM, AlgorithmOverrides.NONE, false), null, TIMEOUTS);
	}

	/** Over TCP, with TLS unless that is {@code null}. */
	static DepartingWorld tls(int worldSize, Tls tls) throws Exception {
		return joined(worldSize, TransportChoice.TCP, tls, TIMEOUTS);
	}

	static DepartingWorld joined(int worldSize, TransportChoice transport, Tls tls, Timeouts timeouts)
			throws Exception {
		return joined(worldSize, new SharedConfig(transport, AlgorithmOverrides.NONE), tls, timeouts);
	}

	private static DepartingWorld joined(int worldSize, SharedConfig sharedConfig, Tls tls, Timeouts timeouts)
			throws Exception {
		int port = FreePort.next();
		EngineSettings defaults = EngineSettings.DEFAULTS;
		EngineSettings settings = new EngineSettings(defaults.backend(), "contract", "a token", -1, null, null, null, 0,
				defaults.congestionControl(), sharedConfig, timeouts, null, tls);
		List<Engine> engines = RankThreads.run(worldSize, LIMIT, (rank) -> Engine
			.join(RankAssignment.onOneHost(rank, worldSize, port), settings, CollectiveListener.NONE));
		return new DepartingWorld() {
			@Override
			public ProcessGroup group(int rank) {
				return engines.get(rank).world();
			}

			@Override
			public void leave(int rank) {
				engines.get(rank).close();
			}

			@Override
			public void close() {
				engines.reversed().forEach(Engine::close);
			}
		};
	}

}
