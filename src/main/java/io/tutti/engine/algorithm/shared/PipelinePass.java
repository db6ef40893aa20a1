package io.tutti.engine.algorithm.shared;

import io.tutti.engine.Call;
import io.tutti.engine.transport.shm.CallSlots;
import io.tutti.engine.transport.shm.ShmTransport;
import io.tutti.engine.transport.shm.ChunkPipeline;

/**
 * Passes a large call over the stages: every rank puts its chunks, some ahead, and works
 * on those that all have put.
 */
final class PipelinePass {

	/** What a collective does with a chunk. */
	interface Work {

		/** Fills this rank's slot. */
		void put(Call call, long chunk);

		/** Reads everyone's slots, for the last time. */
		void take(Call call, long chunk);

	}

	private final int worldSize;

	private final ShmTransport transport;

	private final CallSlots board;

	private final ChunkPipeline stage;

	PipelinePass(int worldSize, ShmTransport transport) {
		this.worldSize = worldSize;
		this.transport = transport;
		this.board = transport.board();
		this.stage = transport.stage();
	}

	/** Carries a posted call out. */
	void run(Call call, long slotBytes, long chunks, Work work) {
		this.stage.begin(slotBytes);
		long put = 0;
		long taken = 0;
		while (taken < chunks) {
			boolean moved = false;
			if (put < chunks && this.stage.free(put)) {
				work.put(call, put);
				this.stage.put(put++);
				moved = true;
			}
			if (taken < put && everyonePut(taken)) {
				work.take(call, taken);
				this.stage.taken(taken++);
				moved = true;
			}
			this.transport.endRound(moved);
		}
		this.stage.end(chunks);
	}

	private boolean everyonePut(long chunk) {
		for (int peer = 0; peer < this.worldSize; peer++) {
			if (!this.board.arrived(peer) || !this.stage.hasPut(peer, chunk)) {
				return false;
			}
		}
		return true;
	}

}
