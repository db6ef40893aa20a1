package io.tutti.engine.transport.simulated;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The pipes between the ranks of one JVM, made on first use, and who has left them.
 */
public final class SimulatedNetwork {

	private record Way(String group, int from, int to) {
	}

	private final Map<Way, Pipe> pipes = new ConcurrentHashMap<>();

	private final Map<Integer, SimulatedTransport> transports = new ConcurrentHashMap<>();

	private final Set<Integer> gone = ConcurrentHashMap.newKeySet();

	Pipe pipe(String group, int from, int to) {
		Pipe pipe = this.pipes.computeIfAbsent(new Way(group, from, to), (way) -> new Pipe());
		if (this.gone.contains(from) || this.gone.contains(to)) {
			pipe.close();
		}
		return pipe;
	}

	void join(int worldRank, SimulatedTransport transport) {
		this.transports.put(worldRank, transport);
	}

	void wake(int worldRank) {
		SimulatedTransport transport = this.transports.get(worldRank);
		if (transport != null) {
			transport.wake();
		}
	}

	/** Ends all connections of a rank, as the kernel does when its process dies. */
	public void cut(int worldRank) {
		this.gone.add(worldRank);
		this.pipes.forEach((way, pipe) -> {
			if (way.from() == worldRank || way.to() == worldRank) {
				pipe.close();
			}
		});
		this.transports.values().forEach(SimulatedTransport::wake);
	}

}
