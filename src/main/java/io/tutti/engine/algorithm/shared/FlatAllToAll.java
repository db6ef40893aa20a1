package io.tutti.engine.algorithm.shared;

import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.shm.CallSlots;

/**
 * All-to-all in one step: each rank posts all its parts and reads those addressed to it.
 */
final class FlatAllToAll implements Algorithm {

	private final int rank;

	private final int worldSize;

	private final CallSlots slots;

	FlatAllToAll(int rank, int worldSize, CallSlots slots) {
		this.rank = rank;
		this.worldSize = worldSize;
		this.slots = slots;
	}

	@Override
	public void run(Call call) {
		long part = call.bytes();
		this.slots.post(call.sendAddress(), part * this.worldSize);
		this.slots.awaitAll();
		for (int peer = 0; peer < this.worldSize; peer++) {
			NativeMemory.copy(this.slots.operand(peer, part * this.worldSize) + this.rank * part,
					call.receiveAddress() + peer * part, part);
		}
	}

}
