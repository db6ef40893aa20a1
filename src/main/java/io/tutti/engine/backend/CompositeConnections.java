package io.tutti.engine.backend;

import java.util.BitSet;
import java.util.Collection;
import java.util.List;
import java.util.Set;

import io.tutti.engine.spi.CleanUp;
import io.tutti.engine.transport.Connections;

/**
 * Connections of one kind to some ranks and of another kind to the rest. A thread sleeps
 * on the kind of the rank that it waits for and polls the other every millisecond.
 */
final class CompositeConnections implements Connections {

	private static final long NAP_NANOS = 1_000_000;

	private final Set<Integer> near;

	private final Connections toNear;

	private final Connections toFar;

	/** The kind on which the next sleep waits. */
	private Connections sleepsOn;

	/**
	 * Owns both kinds.
	 * @param near the ranks of the group that the first kind leads to
	 */
	CompositeConnections(Collection<Integer> near, Connections toNear, Connections toFar) {
		this.near = Set.copyOf(near);
		this.toNear = toNear;
		this.toFar = toFar;
		this.sleepsOn = toNear;
	}

	@Override
	public void dial(int peer) {
		to(peer).dial(peer);
	}

	private Connections to(int peer) {
		return this.near.contains(peer) ? this.toNear : this.toFar;
	}

	@Override
	public boolean poll(Handler handler) {
		return this.toNear.poll(handler) | this.toFar.poll(handler);
	}

	@Override
	public void awaitPeers(BitSet peers) {
		this.toNear.awaitPeers(peers);
		this.toFar.awaitPeers(peers);
	}

	@Override
	public void prepareSleep(int awaited) {
		this.sleepsOn = (awaited < 0) ? this.toNear : to(awaited);
		this.sleepsOn.prepareSleep(awaited);
	}

	@Override
	public void sleep(long maxNanos) {
		this.sleepsOn.sleep(Math.min(maxNanos, NAP_NANOS));
	}

	@Override
	public void wake() {
		this.toNear.wake();
		this.toFar.wake();
	}

	@Override
	public void announceFailure() {
		this.toNear.announceFailure();
		this.toFar.announceFailure();
	}

	@Override
	public void close() {
		CleanUp.runAll(List.of(this.toNear::close, this.toFar::close));
	}

}
