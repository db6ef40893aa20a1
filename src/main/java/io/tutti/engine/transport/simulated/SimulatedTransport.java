package io.tutti.engine.transport.simulated;

import java.util.concurrent.locks.LockSupport;

import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.transport.ByteStream;
import io.tutti.engine.transport.IdleStrategy;
import io.tutti.engine.transport.StreamTransport;
import org.jspecify.annotations.Nullable;

/**
 * Moves bytes between ranks that are threads of one JVM.
 */
public final class SimulatedTransport extends StreamTransport {

	/** The name in configuration and output. */
	public static final String NAME = "simulated";

	private final SimulatedNetwork network;

	private final boolean oversubscribed;

	/** Wakes before the sleep count too: they make the next sleep end at once. */
	private volatile @Nullable Thread caller;

	public SimulatedTransport(GroupIdentity identity, FailureLatch latch, SimulatedNetwork network) {
		boolean shared = identity.worldSize() > Runtime.getRuntime().availableProcessors();
		super(identity, latch, shared ? IdleStrategy.Limits.WOKEN : IdleStrategy.Limits.COLLECTIVE);
		this.oversubscribed = shared;
		this.network = network;
		network.join(endpoint(identity.worldRank()), this::wake);
	}

	private SimulatedNetwork.Endpoint endpoint(int worldRank) {
		return new SimulatedNetwork.Endpoint(this.context.identity().connectionName(), worldRank);
	}

	@Override
	public String name() {
		return NAME;
	}

	@Override
	public boolean oversubscribed() {
		return this.oversubscribed;
	}

	@Override
	public void begin(Call call) {
		this.caller = Thread.currentThread();
		super.begin(call);
	}

	@Override
	protected ByteStream connect(int peer) {
		GroupIdentity identity = this.context.identity();
		return this.network.stream(identity.connectionName(), identity.worldRank(),
				endpoint(identity.members().get(peer)));
	}

	@Override
	public void sleep(long maxNanos) {
		LockSupport.parkNanos(maxNanos);
	}

	@Override
	public void wake() {
		LockSupport.unpark(this.caller);
	}

	@Override
	public void close() {
		this.network.leave(endpoint(this.context.identity().worldRank()), this.context.identity().worldSize());
		super.close();
	}

}
