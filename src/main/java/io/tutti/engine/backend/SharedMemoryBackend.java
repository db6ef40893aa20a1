package io.tutti.engine.backend;

import io.tutti.engine.Backend;
import io.tutti.engine.Call;
import io.tutti.engine.GroupIdentity;
import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.algorithm.AlgorithmSelector;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.algorithm.shared.SharedAlgorithms;
import io.tutti.engine.transport.shm.ShmTransport;

/**
 * Our own algorithms among ranks that share memory: in place where there is such a way,
 * over links otherwise.
 */
final class SharedMemoryBackend implements Backend {

	private final ShmTransport transport;

	private final SharedAlgorithms inPlace;

	private final AlgorithmSelector overLinks;

	SharedMemoryBackend(GroupIdentity identity, ShmTransport transport, ReductionKernels kernels) {
		this.transport = transport;
		this.inPlace = new SharedAlgorithms(identity, transport, kernels);
		this.overLinks = new AlgorithmSelector(identity, transport, kernels);
	}

	@Override
	public String name() {
		return this.transport.name();
	}

	@Override
	public void run(Call call) {
		Algorithm algorithm = this.inPlace.select(call);
		if (algorithm != null) {
			this.transport.enter(call);
			algorithm.run(call);
			return;
		}
		this.transport.begin(call);
		this.overLinks.select(call).run(call);
	}

	@Override
	public void wake() {
		this.transport.wake();
	}

	@Override
	public void close() {
		this.transport.close();
	}

}
