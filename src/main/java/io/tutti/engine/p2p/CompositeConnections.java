package io.tutti.engine.p2p;

import java.util.Collection;
import java.util.Set;

import io.tutti.engine.transport.Connections;

/**
 * Connections of one kind to some ranks and of another to the rest. A thread sleeps on
 * those of the rank it waits for and looks at the others every millisecond.
 */
public final class CompositeConnections implements Connections {

	private static final long NAP_NANOS = 1_000_000;

	private final Set<Integer> near;

	private final Connections toNear;

	private final Connections toFar;

	/** What the thread that is about to sleep sleeps on. */
	private Connections bed;

	/**
	 * Owns both kinds.
	 * @param near the ranks of the group that the first kind leads to
	 */
	public CompositeConnections(Collection<Integer> near, Connections toNear, Connections toFar) {
		this.near = Set.copyOf(near);
		this.toNear = toNear;
		this.toFar = toFar;
		this.bed = toNear;
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
	public void prepareSleep(int awaited) {
		this.bed = (awaited < 0) ? this.toNear : to(awaited);
		this.bed.prepareSleep(awaited);
	}

	@Override
	public void sleep(long maxNanos) {
		this.bed.sleep(Math.min(maxNanos, NAP_NANOS));
	}

	@Override
	public void wake() {
		this.toNear.wake();
		this.toFar.wake();
	}

	@Override
	public void close() {
		this.toNear.close();
		this.toFar.close();
	}

}
