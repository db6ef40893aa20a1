package io.tutti.engine.algorithm.shared;

import io.tutti.engine.Call;
import io.tutti.engine.NativeMemory;
import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.transport.shm.ShmTransport;
import io.tutti.engine.transport.shm.Stage;

/**
 * Broadcast of a large buffer: the root puts it on its stage chunk by chunk, and all
 * others take each chunk as it comes. Two copies in all, one behind the other.
 */
final class StagedBroadcast implements Algorithm {

	private final int rank;

	private final ShmTransport transport;

	private final Stage stage;

	StagedBroadcast(int rank, ShmTransport transport) {
		this.rank = rank;
		this.transport = transport;
		this.stage = transport.stage();
	}

	@Override
	public void run(Call call) {
		long bytes = call.bytes();
		long chunkBytes = ChunkSize.slotBytes(bytes);
		long chunks = (bytes + chunkBytes - 1) / chunkBytes;
		this.stage.begin(chunkBytes);
		this.transport.board().post();
		boolean root = this.rank == call.root();
		if (!root) {
			this.transport.board().await(call.root());
		}
		for (long chunk = 0; chunk < chunks; chunk++) {
			long offset = chunk * chunkBytes;
			long length = Math.min(chunkBytes, bytes - offset);
			if (root) {
				put(chunk, call.sendAddress() + offset, length);
			}
			else {
				take(call.root(), chunk, call.receiveAddress() + offset, length);
			}
		}
		this.stage.end(chunks);
	}

	private void put(long chunk, long source, long bytes) {
		while (!this.stage.free(chunk)) {
			this.transport.stalled();
		}
		this.transport.moved();
		NativeMemory.copy(source, this.stage.slot(this.rank, chunk), bytes);
		this.stage.put(chunk);
	}

	private void take(int root, long chunk, long target, long bytes) {
		while (!this.stage.hasPut(root, chunk)) {
			this.transport.stalled();
		}
		this.transport.moved();
		NativeMemory.copy(this.stage.slot(root, chunk), target, bytes);
		this.stage.taken(chunk);
	}

}
