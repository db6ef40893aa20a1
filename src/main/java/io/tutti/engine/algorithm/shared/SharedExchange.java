package io.tutti.engine.algorithm.shared;

import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.shm.ShmTransport;
import io.tutti.engine.transport.shm.SymmetricBuffers;

/**
 * All-gather and all-to-all of large buffers. Where the buffers of all ranks are
 * accessible in place, each rank copies the parts addressed to it once. Otherwise each
 * rank stages slices of its parts, and copies those addressed to it from the slots of the
 * others as they arrive. In an all-gather a rank's only part is addressed to all.
 */
final class SharedExchange implements LargeCollective {

	private final int rank;

	private final int worldSize;

	private final SymmetricBuffers buffers;

	private final PartSlices slices;

	SharedExchange(int rank, int worldSize, ShmTransport transport, boolean partPerRank) {
		this.rank = rank;
		this.worldSize = worldSize;
		this.buffers = transport.buffers();
		this.slices = new PartSlices(rank, worldSize, transport.pipeline(), partPerRank);
	}

	@Override
	public boolean post(Call call) {
		return this.buffers.post(call);
	}

	@Override
	public void runDirectly(Call call) {
		for (int step = 0; step < this.worldSize; step++) {
			int peer = (this.rank + step) % this.worldSize;
			NativeMemory.copy(this.buffers.address(peer) + this.slices.part(call, this.rank),
					call.receiveAddress() + peer * call.bytes(), call.bytes());
		}
	}

	@Override
	public long divide(Call call) {
		return this.slices.divide(call);
	}

	@Override
	public long chunks(Call call) {
		return this.slices.chunks(call);
	}

	@Override
	public void put(Call call, long chunk) {
		this.slices.put(call, chunk);
		NativeMemory.copy(this.slices.source(call, this.rank, chunk), target(call, this.rank, chunk),
				this.slices.length(call, chunk));
	}

	@Override
	public void take(Call call, long chunk) {
		for (int step = 1; step < this.worldSize; step++) {
			int peer = (this.rank + step) % this.worldSize;
			NativeMemory.copy(this.slices.staged(peer, chunk), target(call, peer, chunk),
					this.slices.length(call, chunk));
		}
	}

	private long target(Call call, int peer, long chunk) {
		return call.receiveAddress() + peer * call.bytes() + this.slices.start(chunk);
	}

}
