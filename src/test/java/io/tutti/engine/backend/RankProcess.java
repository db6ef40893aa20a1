package io.tutti.engine.backend;

import java.io.IOException;

import io.tutti.CollectiveListener;
import io.tutti.TestJvm;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.algorithm.AlgorithmOverrides;
import io.tutti.engine.Timeouts;

/**
 * One rank of an engine, on one host, in a process of its own.
 */
final class RankProcess {

	private RankProcess() {
	}

	/** Starts the main method of a test with these arguments. */
	static Process start(Class<?> test, Object... arguments) throws IOException {
		return new ProcessBuilder(TestJvm.command(test, arguments)).redirectError(ProcessBuilder.Redirect.INHERIT)
			.start();
	}

	/** Joins a job whose rank 0 listens on that port. */
	static Engine join(int rank, int ranks, int port, TransportChoice transport, Timeouts timeouts) throws IOException {
		EngineSettings defaults = EngineSettings.DEFAULTS;
		EngineSettings settings = new EngineSettings(defaults.backend(), "ranks", "a token", -1, null, null, null, 0,
				defaults.congestionControl(), new SharedConfig(transport, AlgorithmOverrides.NONE), timeouts, null);
		return Engine.join(RankAssignment.onOneHost(rank, ranks, port), settings, CollectiveListener.NONE);
	}

}
