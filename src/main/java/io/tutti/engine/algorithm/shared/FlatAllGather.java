package io.tutti.engine.algorithm.shared;

import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.shm.CallSlots;

/**
 * All-gather in one step: each rank posts its part and reads the parts of all ranks.
 */
final class FlatAllGather implements Algorithm {

	private final int worldSize;

	private final CallSlots slots;

	FlatAllGather(int worldSize, CallSlots slots) {
		this.worldSize = worldSize;
		this.slots = slots;
	}

	@Override
	public void run(Call call) {
		long bytes = call.bytes();
		this.slots.post(call.sendAddress(), bytes);
		this.slots.awaitAll();
		for (int rank = 0; rank < this.worldSize; rank++) {
			NativeMemory.copy(this.slots.operand(rank, bytes), call.receiveAddress() + rank * bytes, bytes);
		}
	}

}
