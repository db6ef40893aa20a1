package io.tutti.engine.algorithm.shared;

import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.shm.CallSlots;

/**
 * Broadcast in one step: the root posts its buffer, and the others read it. The root does
 * not wait.
 */
final class FlatBroadcast implements Algorithm {

	private final int rank;

	private final CallSlots slots;

	FlatBroadcast(int rank, CallSlots slots) {
		this.rank = rank;
		this.slots = slots;
	}

	@Override
	public void run(Call call) {
		if (this.rank == call.root()) {
			this.slots.post(call.sendAddress(), call.bytes());
			return;
		}
		this.slots.post();
		this.slots.await(call.root());
		NativeMemory.copy(this.slots.operand(call.root(), call.bytes()), call.receiveAddress(), call.bytes());
	}

}
