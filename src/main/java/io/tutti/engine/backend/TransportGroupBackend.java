package io.tutti.engine.backend;

import java.util.List;

import io.tutti.Collective;
import io.tutti.engine.algorithm.AlgorithmOverrides;
import io.tutti.engine.algorithm.AlgorithmSelector;
import io.tutti.engine.algorithm.Scratch;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.spi.GroupBackend;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.CleanUp;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.Transport;

/**
 * The built-in algorithms over a transport. With one rank every collective is the
 * identity.
 */
class TransportGroupBackend implements GroupBackend {

	private final String name;

	private final int worldSize;

	private final Transport transport;

	private final AlgorithmSelector selector;

	TransportGroupBackend(String name, GroupIdentity identity, Transport transport, ReductionKernels kernels,
			AlgorithmOverrides overrides) {
		this.name = name;
		this.worldSize = identity.worldSize();
		this.transport = transport;
		this.selector = new AlgorithmSelector(identity, transport, kernels, overrides);
	}

	@Override
	public String name() {
		return this.name;
	}

	@Override
	public String transport() {
		return this.transport.name();
	}

	@Override
	public void run(Call call) {
		if (this.worldSize == 1) {
			call.algorithm("identity");
			identity(call);
			return;
		}
		runOverLinks(call);
	}

	/** An exclusive scan has no operand for the only rank. */
	private static void identity(Call call) {
		if (call.collective() != Collective.EXCLUSIVE_SCAN) {
			NativeMemory.copy(call.sendAddress(), call.receiveAddress(), call.receiveBytes());
		}
	}

	final void runOverLinks(Call call) {
		this.transport.begin(call);
		this.selector.select(call).run(call);
	}

	/** The algorithms' working memory, for other algorithms of the same group. */
	final Scratch scratch() {
		return this.selector.scratch();
	}

	@Override
	public void wake() {
		this.transport.wake();
	}

	@Override
	public void close() {
		CleanUp.runAll(List.of(this.transport::close, this.selector::close));
	}

}
