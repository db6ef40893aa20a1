package io.tutti.engine.algorithm.shared;

import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.shm.ChunkPipeline;
import io.tutti.engine.transport.shm.PeerBuffers;
import io.tutti.engine.transport.shm.ShmTransport;

/**
 * Broadcast of a large buffer. Where the root's buffer is accessible in place or is read
 * out of private memory, the other ranks copy it once. Otherwise the root stages it chunk
 * by chunk, and the other ranks copy each chunk as it arrives. No rank waits for the
 * arrival of one that only receives, as {@link LargeAlgorithm} would: with four ranks on
 * two cores, 16 KiB took it twice as long.
 */
final class SharedBroadcast implements Algorithm {

	private final int rank;

	private final ShmTransport transport;

	private final PeerBuffers buffers;

	private final ChunkPipeline pipeline;

	private final CopyChoices choices;

	SharedBroadcast(int rank, ShmTransport transport, CopyChoices choices) {
		this.rank = rank;
		this.transport = transport;
		this.buffers = transport.buffers();
		this.pipeline = transport.pipeline();
		this.choices = choices;
	}

	@Override
	public void run(Call call) {
		boolean root = this.rank == call.root();
		CopyChoices.Choice choice = this.choices.of(call);
		int chooser = (call.root() == 0) ? 1 : 0;
		boolean reads = choice != null && choice.reads(chooser);
		boolean inPlace = this.buffers.post(call, reads);
		if (!root) {
			this.transport.slots().await(call.root());
			inPlace = this.buffers.inPlace(call.root());
		}
		CopyChoices.Choice own = (this.rank == chooser && !inPlace) ? choice : null;
		boolean measures = own != null && own.measures();
		long start = measures ? System.nanoTime() : 0;
		if (!(inPlace || reads) || !copyOnce(call, root, inPlace)) {
			pass(call, root);
		}
		if (own != null) {
			own.record(call, reads, measures ? System.nanoTime() - start : 0);
		}
	}

	/**
	 * Returns whether all ranks could access the root's buffer, which can fail only if
	 * they read it.
	 */
	private boolean copyOnce(Call call, boolean root, boolean inPlace) {
		this.buffers.begin();
		if (!root) {
			this.buffers.copy(call.root(), 0, call.receiveAddress(), call.bytes());
			this.buffers.requireUnchanged(call.root());
		}
		this.buffers.finish();
		return (inPlace && !root) || this.buffers.awaitFinished();
	}

	private void pass(Call call, boolean root) {
		long bytes = call.bytes();
		long chunkBytes = LargeAlgorithm.slotBytes(bytes, 1);
		long chunks = (bytes + chunkBytes - 1) / chunkBytes;
		this.pipeline.begin(chunkBytes);
		for (long chunk = 0; chunk < chunks; chunk++) {
			long offset = chunk * chunkBytes;
			long length = Math.min(chunkBytes, bytes - offset);
			if (root) {
				put(call, chunk, call.sendAddress() + offset, length);
			}
			else {
				take(call.root(), chunk, call.receiveAddress() + offset, length);
			}
		}
		this.pipeline.end(chunks);
	}

	private void put(Call call, long chunk, long source, long bytes) {
		while (!this.pipeline.free(chunk)) {
			this.transport.stalled();
		}
		this.transport.moved();
		NativeMemory.copy(source, this.pipeline.slot(this.rank, chunk), bytes);
		call.requireOpenBuffers();
		this.pipeline.put(chunk);
		this.pipeline.taken(chunk);
	}

	private void take(int root, long chunk, long target, long bytes) {
		while (!this.pipeline.hasPut(root, chunk)) {
			this.transport.stalled();
		}
		this.transport.moved();
		NativeMemory.copy(this.pipeline.slot(root, chunk), target, bytes);
		this.pipeline.taken(chunk);
	}

}
