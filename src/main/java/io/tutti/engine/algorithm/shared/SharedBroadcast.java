package io.tutti.engine.algorithm.shared;

import io.tutti.engine.Call;
import io.tutti.engine.NativeMemory;
import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.transport.shm.SymmetricBuffers;
import io.tutti.engine.transport.shm.ShmTransport;
import io.tutti.engine.transport.shm.ChunkPipeline;

/**
 * Broadcast of a large buffer. Where the root's can be reached in place the others copy
 * it once; otherwise the root puts it on its stage chunk by chunk, and all others take
 * each chunk as it comes.
 */
final class SharedBroadcast implements Algorithm {

	private final int rank;

	private final ShmTransport transport;

	private final SymmetricBuffers buffers;

	private final ChunkPipeline stage;

	SharedBroadcast(int rank, ShmTransport transport) {
		this.rank = rank;
		this.transport = transport;
		this.buffers = transport.buffers();
		this.stage = transport.stage();
	}

	@Override
	public void run(Call call) {
		boolean root = this.rank == call.root();
		boolean reachable = this.buffers.post(call);
		if (!root) {
			this.transport.board().await(call.root());
			reachable = this.buffers.reachable(call.root());
		}
		if (reachable) {
			copyInPlace(call, root);
		}
		else {
			pass(call, root);
		}
	}

	private void copyInPlace(Call call, boolean root) {
		if (!root) {
			NativeMemory.copy(this.buffers.address(call.root()), call.receiveAddress(), call.bytes());
		}
		this.buffers.finish();
		if (root) {
			this.buffers.awaitFinished();
		}
	}

	private void pass(Call call, boolean root) {
		long bytes = call.bytes();
		long chunkBytes = ChunkSize.slotBytes(bytes);
		long chunks = (bytes + chunkBytes - 1) / chunkBytes;
		this.stage.begin(chunkBytes);
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
		this.stage.taken(chunk);
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
