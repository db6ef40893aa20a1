package io.tutti.engine.transport.simulated;

import java.lang.foreign.Arena;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.transport.CallContext;
import io.tutti.engine.transport.CallWait;
import io.tutti.engine.transport.IdleStrategy;
import io.tutti.engine.transport.Link;
import io.tutti.engine.transport.StreamLink;
import io.tutti.engine.transport.Transport;
import org.jspecify.annotations.Nullable;

/**
 * Moves bytes between ranks that are threads of one JVM.
 */
public final class SimulatedTransport implements Transport, CallWait.Peers {

	/** The name in configuration and output. */
	public static final String NAME = "simulated";

	private final GroupIdentity identity;

	private final SimulatedNetwork network;

	private final CallContext context;

	private final CallWait waiting;

	private final Arena arena = Arena.ofShared();

	private final @Nullable StreamLink[] links;

	private final List<StreamLink> used = new ArrayList<>();

	/** Wakes before the sleep count too: they make the next sleep end at once. */
	private volatile @Nullable Thread caller;

	public SimulatedTransport(GroupIdentity identity, FailureLatch latch, SimulatedNetwork network) {
		this.identity = identity;
		this.network = network;
		this.context = new CallContext(identity, latch, this.arena);
		this.waiting = new CallWait(this.context, this,
				(identity.worldSize() > Runtime.getRuntime().availableProcessors()) ? IdleStrategy.Limits.WOKEN
						: IdleStrategy.Limits.COLLECTIVE);
		this.links = new StreamLink[identity.worldSize()];
		network.join(new SimulatedNetwork.Endpoint(identity.connectionName(), identity.worldRank()), this::wake);
	}

	@Override
	public String name() {
		return NAME;
	}

	@Override
	public void begin(Call call) {
		this.caller = Thread.currentThread();
		this.context.begin(call);
		this.waiting.begin();
		for (int i = 0; i < this.used.size(); i++) {
			this.used.get(i).unblock();
		}
	}

	@Override
	public Link link(int peer) {
		StreamLink link = this.links[peer];
		if (link == null) {
			link = new StreamLink(peer, this.context, this.arena);
			String group = this.identity.connectionName();
			link.connect(this.network.stream(group, this.identity.worldRank(),
					new SimulatedNetwork.Endpoint(group, this.identity.members().get(peer))));
			this.links[peer] = link;
			this.used.add(link);
		}
		return link;
	}

	@Override
	public void stalled() {
		this.waiting.stalled();
	}

	@Override
	public void moved() {
		this.waiting.moved();
	}

	@Override
	public void sleep(long maxNanos) {
		LockSupport.parkNanos(maxNanos);
	}

	@Override
	public List<Integer> awaited() {
		return this.used.stream()
			.filter((link) -> link.blockedReading() || link.blockedWriting())
			.map(StreamLink::peer)
			.toList();
	}

	@Override
	public CallWait.Moved moved(int peer) {
		StreamLink link = this.links[peer];
		return (link != null) ? link.moved() : CallWait.Moved.NONE;
	}

	@Override
	public void wake() {
		LockSupport.unpark(this.caller);
	}

	@Override
	public void close() {
		this.network.leave(new SimulatedNetwork.Endpoint(this.identity.connectionName(), this.identity.worldRank()),
				this.identity.worldSize());
		this.arena.close();
	}

}
