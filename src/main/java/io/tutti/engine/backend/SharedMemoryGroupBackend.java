package io.tutti.engine.backend;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.algorithm.AlgorithmOverrides;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.algorithm.shared.SharedAlgorithms;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.GroupSetupException;
import io.tutti.engine.spi.MetadataExchange;
import io.tutti.engine.transport.shm.ShmTransport;

/**
 * The built-in algorithms for ranks that share memory. Uses an algorithm in shared memory
 * if there is one, and links otherwise or if the configuration names an algorithm.
 */
final class SharedMemoryGroupBackend extends TransportGroupBackend {

	private final GroupIdentity identity;

	private final ShmTransport transport;

	private final AlgorithmOverrides overrides;

	private final SharedAlgorithms inSharedMemory;

	/** A backend that owns the transport. */
	SharedMemoryGroupBackend(String name, GroupIdentity identity, ShmTransport transport, ReductionKernels kernels,
			AlgorithmOverrides overrides) {
		super(name, identity, transport, kernels, overrides);
		this.identity = identity;
		this.transport = transport;
		this.overrides = overrides;
		this.inSharedMemory = new SharedAlgorithms(identity, transport, kernels, scratch());
	}

	@Override
	public void run(Call call) {
		Algorithm algorithm = this.overrides.names(call.collective()) ? null : this.inSharedMemory.select(call);
		if (algorithm == null) {
			runOverLinks(call);
			return;
		}
		this.transport.enter(call);
		try {
			algorithm.run(call);
		}
		catch (RuntimeException | Error ex) {
			this.transport.fail();
			throw ex;
		}
	}

	@Override
	public MemorySegment allocate(long bytes, Arena arena, MetadataExchange exchange, Deadline deadline) {
		try {
			return this.transport.allocate(bytes, arena, exchange, deadline);
		}
		catch (IOException ex) {
			throw new GroupSetupException(this.identity, "the ranks could not agree on a buffer", ex);
		}
	}

	@Override
	public void free(MemorySegment buffer) {
		this.transport.free(buffer);
	}

}
