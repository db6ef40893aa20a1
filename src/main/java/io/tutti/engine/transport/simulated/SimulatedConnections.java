package io.tutti.engine.transport.simulated;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.locks.LockSupport;

import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.transport.Connections;
import io.tutti.engine.transport.simulated.SimulatedNetwork.Endpoint;
import org.jspecify.annotations.Nullable;

/**
 * The connections for one group's messages between threads of one JVM. As over TCP, a
 * connection belongs to the rank that opened it and is bidirectional.
 */
public final class SimulatedConnections implements Connections {

	private static final String SUFFIX = "/p2p";

	/** Limits a sleep: a wake-up between the last check and the sleep may be missed. */
	private static final long SLEEP_NANOS = 1_000_000;

	private final GroupIdentity identity;

	private final SimulatedNetwork network;

	private final Endpoint self;

	private final Queue<Integer> dialers;

	/**
	 * Peers that this rank has dialed and whose connection the handler has not received
	 * yet.
	 */
	private final Queue<Integer> dialed = new ArrayDeque<>();

	private volatile @Nullable Thread sleeper;

	public SimulatedConnections(GroupIdentity identity, SimulatedNetwork network) {
		this.identity = identity;
		this.network = network;
		this.self = endpoint(identity.worldRank());
		this.dialers = network.dialersOf(this.self);
		network.join(this.self, this::wake);
	}

	private Endpoint endpoint(int worldRank) {
		return new Endpoint(this.identity.name() + SUFFIX, worldRank);
	}

	@Override
	public void dial(int peer) {
		this.dialed.add(peer);
		this.network.dial(endpoint(this.identity.members().get(peer)), this.self.worldRank());
	}

	@Override
	public boolean poll(Handler handler) {
		if (this.dialed.isEmpty() && this.dialers.isEmpty()) {
			return false;
		}
		for (Integer peer = this.dialed.poll(); peer != null; peer = this.dialed.poll()) {
			handler.arrived(peer, stream(this.self.worldRank(), this.identity.members().get(peer)));
		}
		for (Integer from = this.dialers.poll(); from != null; from = this.dialers.poll()) {
			handler.arrived(this.identity.members().indexOf(from), stream(from, from));
		}
		return true;
	}

	/** This rank's end of the connection that a rank has opened. */
	private PipeStream stream(int dialer, int other) {
		return this.network.stream(this.self.group() + SimulatedNetwork.MARK + dialer, this.self.worldRank(),
				endpoint(other));
	}

	@Override
	public void prepareSleep(int awaited) {
	}

	@Override
	public void sleep(long maxNanos) {
		this.sleeper = Thread.currentThread();
		LockSupport.parkNanos(Math.min(maxNanos, SLEEP_NANOS));
		this.sleeper = null;
	}

	@Override
	public void wake() {
		LockSupport.unpark(this.sleeper);
	}

	@Override
	public void close() {
		this.network.leave(this.self, this.identity.worldSize());
	}

}
