package io.tutti.engine.algorithm.shared;

import io.tutti.engine.Call;
import io.tutti.engine.NativeMemory;
import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.transport.shm.CallSlots;

/**
 * All-gather in one step: each rank posts its part and reads everyone's.
 */
final class FlatAllGather implements Algorithm {

	private final int worldSize;

	private final CallSlots board;

	FlatAllGather(int worldSize, CallSlots board) {
		this.worldSize = worldSize;
		this.board = board;
	}

	@Override
	public void run(Call call) {
		long bytes = call.bytes();
		this.board.post(call.sendAddress(), bytes);
		this.board.awaitAll();
		for (int rank = 0; rank < this.worldSize; rank++) {
			NativeMemory.copy(this.board.operand(rank, bytes), call.receiveAddress() + rank * bytes, bytes);
		}
	}

}
