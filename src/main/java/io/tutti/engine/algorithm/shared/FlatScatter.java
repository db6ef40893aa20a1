package io.tutti.engine.algorithm.shared;

import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.shm.CallSlots;

/**
 * Scatter in one step: the root posts all parts, and each rank reads its own. The root
 * does not wait.
 */
final class FlatScatter implements Algorithm {

	private final int rank;

	private final int worldSize;

	private final CallSlots slots;

	FlatScatter(int rank, int worldSize, CallSlots slots) {
		this.rank = rank;
		this.worldSize = worldSize;
		this.slots = slots;
	}

	@Override
	public void run(Call call) {
		long part = call.bytes();
		long whole = part * this.worldSize;
		if (this.rank == call.root()) {
			this.slots.post(call.sendAddress(), whole);
		}
		else {
			this.slots.post();
			this.slots.await(call.root());
		}
		NativeMemory.copy(this.slots.operand(call.root(), whole) + this.rank * part, call.receiveAddress(), part);
	}

}
