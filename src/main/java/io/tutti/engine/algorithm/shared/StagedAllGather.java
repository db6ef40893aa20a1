package io.tutti.engine.algorithm.shared;

import io.tutti.engine.Call;
import io.tutti.engine.NativeMemory;
import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.transport.shm.ShmTransport;
import io.tutti.engine.transport.shm.Stage;

/**
 * All-gather of large buffers: each rank puts its part on its stage chunk by chunk, and
 * takes everyone's chunks as they come. Each rank copies its own part twice and those of
 * the others once.
 */
final class StagedAllGather implements Algorithm {

	private final int rank;

	private final int worldSize;

	private final ShmTransport transport;

	private final Stage stage;

	private long bytes;

	private long chunkBytes;

	StagedAllGather(int rank, int worldSize, ShmTransport transport) {
		this.rank = rank;
		this.worldSize = worldSize;
		this.transport = transport;
		this.stage = transport.stage();
	}

	@Override
	public void run(Call call) {
		this.bytes = call.bytes();
		this.chunkBytes = ChunkSize.slotBytes(this.bytes);
		long chunks = (this.bytes + this.chunkBytes - 1) / this.chunkBytes;
		this.stage.begin(this.chunkBytes);
		this.transport.board().post();
		long put = 0;
		long taken = 0;
		while (taken < chunks) {
			boolean moved = false;
			if (put < chunks && this.stage.free(put)) {
				put(call, put++);
				moved = true;
			}
			if (taken < put && everyonePut(taken)) {
				take(call, taken++);
				moved = true;
			}
			if (moved) {
				this.transport.moved();
			}
			else {
				this.transport.stalled();
			}
		}
		this.stage.end(chunks);
	}

	private void put(Call call, long chunk) {
		long source = call.sendAddress() + chunk * this.chunkBytes;
		NativeMemory.copy(source, this.stage.slot(this.rank, chunk), length(chunk));
		this.stage.put(chunk);
		NativeMemory.copy(source, target(call, this.rank, chunk), length(chunk));
	}

	private boolean everyonePut(long chunk) {
		for (int peer = 0; peer < this.worldSize; peer++) {
			if (!this.transport.board().arrived(peer) || !this.stage.hasPut(peer, chunk)) {
				return false;
			}
		}
		return true;
	}

	private void take(Call call, long chunk) {
		for (int step = 1; step < this.worldSize; step++) {
			int peer = (this.rank + step) % this.worldSize;
			NativeMemory.copy(this.stage.slot(peer, chunk), target(call, peer, chunk), length(chunk));
		}
		this.stage.taken(chunk);
	}

	private long target(Call call, int peer, long chunk) {
		return call.receiveAddress() + peer * this.bytes + chunk * this.chunkBytes;
	}

	private long length(long chunk) {
		return Math.min(this.chunkBytes, this.bytes - chunk * this.chunkBytes);
	}

}
