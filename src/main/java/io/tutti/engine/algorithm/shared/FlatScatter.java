package io.tutti.engine.algorithm.shared;

import io.tutti.engine.Call;
import io.tutti.engine.NativeMemory;
import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.transport.shm.CallSlots;

/**
 * Scatter in one step: the root posts all parts, and each rank reads its own. The root
 * waits for nobody.
 */
final class FlatScatter implements Algorithm {

	private final int rank;

	private final int worldSize;

	private final CallSlots board;

	FlatScatter(int rank, int worldSize, CallSlots board) {
		this.rank = rank;
		this.worldSize = worldSize;
		this.board = board;
	}

	@Override
	public void run(Call call) {
		long part = call.bytes();
		long whole = part * this.worldSize;
		if (this.rank == call.root()) {
			this.board.post(call.sendAddress(), whole);
		}
		else {
			this.board.post();
			this.board.await(call.root());
		}
		NativeMemory.copy(this.board.operand(call.root(), whole) + this.rank * part, call.receiveAddress(), part);
	}

}
