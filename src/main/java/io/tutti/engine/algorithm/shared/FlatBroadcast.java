package io.tutti.engine.algorithm.shared;

import io.tutti.engine.Call;
import io.tutti.engine.NativeMemory;
import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.transport.shm.CallSlots;

/**
 * Broadcast in one step: the root posts its buffer, and the others read it. The root
 * waits for nobody.
 */
final class FlatBroadcast implements Algorithm {

	private final int rank;

	private final CallSlots board;

	FlatBroadcast(int rank, CallSlots board) {
		this.rank = rank;
		this.board = board;
	}

	@Override
	public void run(Call call) {
		if (this.rank == call.root()) {
			this.board.post(call.sendAddress(), call.bytes());
			return;
		}
		this.board.post();
		this.board.await(call.root());
		NativeMemory.copy(this.board.operand(call.root(), call.bytes()), call.receiveAddress(), call.bytes());
	}

}
