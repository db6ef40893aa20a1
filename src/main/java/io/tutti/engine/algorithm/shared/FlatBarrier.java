package io.tutti.engine.algorithm.shared;

import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.spi.Call;
import io.tutti.engine.transport.shm.CallSlots;

/**
 * Barrier in one step: each rank posts the call and waits for the posts of all others.
 */
final class FlatBarrier implements Algorithm {

	private final CallSlots slots;

	FlatBarrier(CallSlots slots) {
		this.slots = slots;
	}

	@Override
	public void run(Call call) {
		this.slots.post();
		this.slots.awaitAll();
	}

}
