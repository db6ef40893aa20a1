package io.tutti.engine.backend;

import io.tutti.engine.CollectiveListener;
import io.tutti.engine.ProcessGroup;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.rendezvous.ControlPlane;
import io.tutti.engine.rendezvous.Membership;

/**
 * One rank's engine: the group that holds every rank, the control plane, and the order in
 * which they are closed.
 */
public final class Engine implements AutoCloseable {

	private final Membership membership;

	private final ProcessGroup world;

	Engine(Membership membership, ProcessGroup world) {
		this.membership = membership;
		this.world = world;
	}

	/**
	 * Meets the other ranks and forms the group; returns when every rank has come.
	 * @throws io.tutti.engine.rendezvous.RendezvousException if the ranks do not meet or
	 * this one is refused
	 */
	public static Engine join(RankAssignment assignment, EngineSettings settings, CollectiveListener listener) {
		throw new UnsupportedOperationException("lands with the transport");
	}

	/** The group that holds every rank. */
	public ProcessGroup world() {
		return this.world;
	}

	/** The control plane. */
	public ControlPlane control() {
		return this.membership.control();
	}

	/** Who is where. */
	public Membership membership() {
		return this.membership;
	}

	/** Leaves the group and gives everything back, in reverse order of opening. */
	@Override
	public void close() {
		this.world.close();
		this.membership.control().close();
	}

}
