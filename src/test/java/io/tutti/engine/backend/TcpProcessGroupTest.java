package io.tutti.engine.backend;

import java.time.Duration;
import java.util.List;

import io.tutti.CollectiveListener;
import io.tutti.FreePort;
import io.tutti.ProcessGroup;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.Timeouts;
import io.tutti.engine.algorithm.AlgorithmOverrides;

class TcpProcessGroupTest extends ProcessGroupContract {

	@Override
	World world(int worldSize) throws Exception {
		int port = FreePort.next();
		EngineSettings defaults = EngineSettings.DEFAULTS;
		EngineSettings settings = new EngineSettings(defaults.backend(), "contract", "a token", -1, null, null, null, 0,
				defaults.congestionControl(), new SharedConfig(TransportChoice.TCP, AlgorithmOverrides.NONE),
				Timeouts.DEFAULTS.withCollective(Duration.ofSeconds(30)), null);
		List<Engine> engines = RankThreads.run(worldSize, LIMIT, (rank) -> Engine
			.join(RankAssignment.onOneHost(rank, worldSize, port), settings, CollectiveListener.NONE));
		return new World() {
			@Override
			public ProcessGroup group(int rank) {
				return engines.get(rank).world();
			}

			@Override
			public void close() {
				engines.reversed().forEach(Engine::close);
			}
		};
	}

}
