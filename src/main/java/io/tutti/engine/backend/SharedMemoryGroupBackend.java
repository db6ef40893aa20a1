package io.tutti.engine.backend;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.List;

import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.algorithm.AlgorithmOverrides;
import io.tutti.engine.algorithm.AlgorithmSelector;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.algorithm.shared.SharedAlgorithms;
import io.tutti.engine.spi.GroupBackend;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.CleanUp;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.GroupSetupException;
import io.tutti.engine.spi.MetadataExchange;
import io.tutti.engine.transport.shm.ShmTransport;

/**
 * The built-in algorithms for ranks that share memory. Uses an in-place algorithm if
 * there is one, and links otherwise or if the configuration names an algorithm.
 */
final class SharedMemoryGroupBackend implements GroupBackend {

	private final String name;

	private final GroupIdentity identity;

	private final ShmTransport transport;

	private final AlgorithmOverrides overrides;

	private final SharedAlgorithms inPlace;

	private final AlgorithmSelector overLinks;

	/** A backend that owns the transport. */
	SharedMemoryGroupBackend(String name, GroupIdentity identity, ShmTransport transport, ReductionKernels kernels,
			AlgorithmOverrides overrides) {
		this.name = name;
		this.identity = identity;
		this.transport = transport;
		this.overrides = overrides;
		this.overLinks = new AlgorithmSelector(identity, transport, kernels, overrides);
		this.inPlace = new SharedAlgorithms(identity, transport, kernels, this.overLinks.scratch());
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
		Algorithm algorithm = this.overrides.names(call.collective()) ? null : this.inPlace.select(call);
		if (algorithm != null) {
			this.transport.enter(call);
			runInPlace(algorithm, call);
			return;
		}
		this.transport.begin(call);
		this.overLinks.select(call).run(call);
	}

	private void runInPlace(Algorithm algorithm, Call call) {
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
	public boolean takesPartsInPlace(long address) {
		return true;
	}

	@Override
	public void free(MemorySegment buffer) {
		this.transport.free(buffer);
	}

	@Override
	public void wake() {
		this.transport.wake();
	}

	@Override
	public void close() {
		CleanUp.runAll(List.of(this.transport::close, this.overLinks::close));
	}

}
