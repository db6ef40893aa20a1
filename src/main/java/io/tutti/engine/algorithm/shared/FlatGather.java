package io.tutti.engine.algorithm.shared;

import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.shm.CallSlots;

/**
 * Gather in one step: each rank posts its part, and the root reads them. The other ranks
 * do not wait.
 */
final class FlatGather implements Algorithm {

	private final int rank;

	private final int worldSize;

	private final CallSlots slots;

	FlatGather(int rank, int worldSize, CallSlots slots) {
		this.rank = rank;
		this.worldSize = worldSize;
		this.slots = slots;
	}

	@Override
	public void run(Call call) {
		long part = call.bytes();
		this.slots.post(call.sendAddress(), part);
		if (this.rank != call.root()) {
			return;
		}
		this.slots.awaitAll();
		for (int peer = 0; peer < this.worldSize; peer++) {
			NativeMemory.copy(this.slots.operand(peer, part), call.receiveAddress() + peer * part, part);
		}
	}

}
