package io.tutti.engine.algorithm.shared;

import io.tutti.engine.Call;
import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.transport.shm.CallSlots;

/**
 * Barrier in one step: each rank posts the call and looks for everyone's post.
 */
final class FlatBarrier implements Algorithm {

	private final CallSlots board;

	FlatBarrier(CallSlots board) {
		this.board = board;
	}

	@Override
	public void run(Call call) {
		this.board.post();
		this.board.awaitAll();
	}

}
