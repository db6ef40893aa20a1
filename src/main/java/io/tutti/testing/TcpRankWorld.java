package io.tutti.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;

import io.tutti.CollectiveListener;
import io.tutti.ProcessGroup;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.Timeouts;
import io.tutti.engine.algorithm.AlgorithmOverrides;
import io.tutti.engine.backend.Engine;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.backend.SharedConfig;
import io.tutti.engine.backend.TransportChoice;
import io.tutti.engine.spi.CleanUp;

/**
 * Ranks that rendezvous at a loopback port and exchange data over TCP.
 */
final class TcpRankWorld implements RankWorld {

	private final int worldSize;

	private final EngineSettings settings;

	private final int port;

	private final List<Engine> engines = new ArrayList<>();

	private boolean closed;

	TcpRankWorld(int worldSize, Timeouts timeouts) {
		EngineSettings defaults = EngineSettings.DEFAULTS;
		this.worldSize = worldSize;
		this.settings = new EngineSettings(defaults.backend(), "rank-test", null, -1, null, null, null, 0,
				defaults.congestionControl(), new SharedConfig(TransportChoice.TCP, AlgorithmOverrides.NONE), timeouts,
				null);
		this.port = freePort();
	}

	@Override
	public ProcessGroup group(int rank) {
		Engine engine = Engine.join(RankAssignment.onOneHost(rank, this.worldSize, this.port), this.settings,
				CollectiveListener.NONE);
		if (!keep(engine)) {
			engine.close();
			throw new IllegalStateException("rank " + rank + " joined after the end of its test");
		}
		return engine.world();
	}

	private synchronized boolean keep(Engine engine) {
		if (!this.closed) {
			this.engines.add(engine);
		}
		return !this.closed;
	}

	@Override
	public void close() {
		CleanUp.runAll(end().stream().<Runnable>map((engine) -> engine::close).toList());
	}

	private synchronized List<Engine> end() {
		this.closed = true;
		return List.copyOf(this.engines);
	}

	private static int freePort() {
		try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			return socket.getLocalPort();
		}
		catch (IOException ex) {
			throw new UncheckedIOException("no free rendezvous port", ex);
		}
	}

}
