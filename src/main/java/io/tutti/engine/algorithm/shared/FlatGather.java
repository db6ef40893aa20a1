package io.tutti.engine.algorithm.shared;

import io.tutti.engine.Call;
import io.tutti.engine.NativeMemory;
import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.transport.shm.CallSlots;

/**
 * Gather in one step: each rank posts its part, and the root reads them. The others wait
 * for nobody.
 */
final class FlatGather implements Algorithm {

	private final int rank;

	private final int worldSize;

	private final CallSlots board;

	FlatGather(int rank, int worldSize, CallSlots board) {
		this.rank = rank;
		this.worldSize = worldSize;
		this.board = board;
	}

	@Override
	public void run(Call call) {
		long part = call.bytes();
		this.board.post(call.sendAddress(), part);
		if (this.rank != call.root()) {
			return;
		}
		this.board.awaitAll();
		for (int peer = 0; peer < this.worldSize; peer++) {
			NativeMemory.copy(this.board.operand(peer, part), call.receiveAddress() + peer * part, part);
		}
	}

}
