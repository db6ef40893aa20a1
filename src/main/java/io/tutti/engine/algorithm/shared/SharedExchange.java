package io.tutti.engine.algorithm.shared;

import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.shm.ShmTransport;
import io.tutti.engine.transport.shm.SymmetricBuffers;

/**
 * All-to-all of large buffers. Where the buffers of all ranks are accessible in place,
 * each rank copies the parts addressed to it once. Otherwise each rank stages a slice of
 * every part and copies the slices addressed to it from the slots of the others.
 */
final class SharedAllToAll implements Algorithm, PipelinePass.Work {

	private final int rank;

	private final int worldSize;

	private final SymmetricBuffers buffers;

	private final ShmTransport transport;

	private final PipelinePass pass;

	private final PartSlices slices;

	SharedAllToAll(int rank, int worldSize, ShmTransport transport) {
		this.rank = rank;
		this.worldSize = worldSize;
		this.transport = transport;
		this.buffers = transport.buffers();
		this.slices = new PartSlices(rank, worldSize, transport.pipeline());
		this.pass = new PipelinePass(worldSize, transport);
	}

	@Override
	public void run(Call call) {
		long part = call.bytes();
		boolean reachable = this.buffers.post(call);
		NativeMemory.copy(call.sendAddress() + this.rank * part, call.receiveAddress() + this.rank * part, part);
		if (reachable) {
			this.transport.slots().awaitAll();
			if (this.buffers.allReachable()) {
				exchangeInPlace(call);
				return;
			}
		}
		this.slices.run(call, this.pass, this);
	}

	private void exchangeInPlace(Call call) {
		for (int step = 1; step < this.worldSize; step++) {
			int peer = (this.rank + step) % this.worldSize;
			NativeMemory.copy(this.buffers.address(peer) + this.rank * call.bytes(),
					call.receiveAddress() + peer * call.bytes(), call.bytes());
		}
		this.buffers.finish();
		this.buffers.awaitFinished();
	}

	@Override
	public void put(Call call, long chunk) {
		this.slices.put(call, chunk);
	}

	@Override
	public void take(Call call, long chunk) {
		for (int step = 1; step < this.worldSize; step++) {
			int peer = (this.rank + step) % this.worldSize;
			NativeMemory.copy(this.slices.staged(peer, chunk),
					call.receiveAddress() + this.slices.offset(call, peer, chunk), this.slices.length(call, chunk));
		}
	}

}
