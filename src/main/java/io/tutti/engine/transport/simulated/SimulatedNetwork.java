package io.tutti.engine.transport.simulated;

import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The pipes between the ranks of one JVM, made on first use, and who has left them.
 */
public final class SimulatedNetwork {

	/** What a kernel gives a connection to begin with. */
	private static final int CAPACITY = 64 * 1024;

	/** What all pipes of a rank may take together, should it use every one. */
	private static final int RANK_BYTES = 4 * 1024 * 1024;

	private static final int LEAST_CAPACITY = 4 * 1024;

	private record Way(String group, int from, int to) {
	}

	private final int capacity;

	private final Map<Way, Pipe> pipes = new ConcurrentHashMap<>();

	private final Map<Integer, SimulatedTransport> transports = new ConcurrentHashMap<>();

	private final Set<Integer> gone = ConcurrentHashMap.newKeySet();

	/** A network for so many ranks; the more they are, the less each pipe holds. */
	public SimulatedNetwork(int worldSize) {
		this.capacity = Math.clamp(Integer.highestOneBit(RANK_BYTES / worldSize), LEAST_CAPACITY, CAPACITY);
	}

	Pipe pipe(String group, int from, int to) {
		Pipe pipe = this.pipes.computeIfAbsent(new Way(group, from, to), (way) -> new Pipe(this.capacity));
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
