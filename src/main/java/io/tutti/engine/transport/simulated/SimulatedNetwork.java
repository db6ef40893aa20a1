package io.tutti.engine.transport.simulated;

import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Predicate;

/**
 * The pipes between the ranks of one JVM, created on first use, and the ranks that have
 * left.
 */
public final class SimulatedNetwork {

	/** Typical initial socket buffer of a kernel. */
	private static final int CAPACITY = 64 * 1024;

	/** Memory for all pipes of a rank if it uses every one. */
	private static final int RANK_BYTES = 4 * 1024 * 1024;

	private static final int LEAST_CAPACITY = 4 * 1024;

	/** Separates the group's name from the dialing rank in a connection's name. */
	static final char MARK = '#';

	/** One direction of a connection. */
	private record Direction(String group, int from, int to) {
	}

	/** A rank as a member of a group. */
	record Endpoint(String group, int worldRank) {
	}

	private final int capacity;

	private final Map<Direction, Pipe> pipes = new ConcurrentHashMap<>();

	private final Map<Endpoint, Runnable> sleepers = new ConcurrentHashMap<>();

	/** Ranks that have dialed an endpoint and that the endpoint has not polled yet. */
	private final Map<Endpoint, Queue<Integer>> dialers = new ConcurrentHashMap<>();

	/** World ranks that were lost. */
	private final Set<Integer> lost = ConcurrentHashMap.newKeySet();

	private final Set<Endpoint> left = ConcurrentHashMap.newKeySet();

	/** A network for so many ranks; the capacity of a pipe falls with their number. */
	public SimulatedNetwork(int worldSize) {
		if (worldSize < 1) {
			throw new IllegalArgumentException("world size must be at least 1, got " + worldSize);
		}
		this.capacity = Math.clamp(Integer.highestOneBit(RANK_BYTES / worldSize), LEAST_CAPACITY, CAPACITY);
	}

	/** A rank's end of the connection between it and a peer. */
	PipeStream stream(String connection, int worldRank, Endpoint peer) {
		return new PipeStream(pipe(connection, worldRank, peer.worldRank()),
				pipe(connection, peer.worldRank(), worldRank), () -> wake(peer));
	}

	private Pipe pipe(String group, int from, int to) {
		Pipe pipe = this.pipes.computeIfAbsent(new Direction(group, from, to), (direction) -> new Pipe(this.capacity));
		if (isClosed(group, from) || isClosed(group, to)) {
			pipe.close();
		}
		return pipe;
	}

	private boolean isClosed(String group, int worldRank) {
		return this.lost.contains(worldRank) || this.left.contains(new Endpoint(groupOf(group), worldRank));
	}

	private static String groupOf(String connection) {
		int mark = connection.indexOf(MARK);
		return (mark < 0) ? connection : connection.substring(0, mark);
	}

	/**
	 * Registers a rank of a group.
	 * @param wake wakes the rank if it sleeps
	 */
	void join(Endpoint endpoint, Runnable wake) {
		this.sleepers.put(endpoint, wake);
	}

	void wake(Endpoint endpoint) {
		Runnable wake = this.sleepers.get(endpoint);
		if (wake != null) {
			wake.run();
		}
	}

	/** Announces to a rank that another rank has connected to it. */
	void dial(Endpoint to, int from) {
		dialersOf(to).add(from);
		wake(to);
	}

	/** The ranks that have dialed an endpoint and that it has not polled yet. */
	Queue<Integer> dialersOf(Endpoint endpoint) {
		return this.dialers.computeIfAbsent(endpoint, (key) -> new ConcurrentLinkedQueue<>());
	}

	/**
	 * Closes the connections of a rank in one group, and forgets the group once all its
	 * ranks have left.
	 */
	synchronized void leave(Endpoint endpoint, int worldSize) {
		this.sleepers.remove(endpoint);
		this.left.add(endpoint);
		this.pipes.forEach((direction, pipe) -> {
			if (groupOf(direction.group()).equals(endpoint.group())
					&& (direction.from() == endpoint.worldRank() || direction.to() == endpoint.worldRank())) {
				pipe.close();
			}
		});
		removeClosed();
		Predicate<Endpoint> inGroup = (other) -> other.group().equals(endpoint.group());
		if (this.left.stream().filter(inGroup).count() == worldSize) {
			this.left.removeIf(inGroup);
			this.dialers.keySet().removeIf(inGroup);
		}
		this.sleepers.values().forEach(Runnable::run);
	}

	/** Removes the pipes that no rank uses any more. */
	private void removeClosed() {
		this.pipes.keySet()
			.removeIf((direction) -> isClosed(direction.group(), direction.from())
					&& isClosed(direction.group(), direction.to()));
	}

	/** Closes all connections of a rank, as the kernel does when its process dies. */
	public synchronized void cut(int worldRank) {
		this.lost.add(worldRank);
		this.pipes.forEach((direction, pipe) -> {
			if (direction.from() == worldRank || direction.to() == worldRank) {
				pipe.close();
			}
		});
		removeClosed();
		this.sleepers.values().forEach(Runnable::run);
	}

}
