package io.tutti.engine.algorithm.shared;

import io.tutti.Collective;
import io.tutti.engine.algorithm.Algorithm;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.shm.ShmTransport;
import io.tutti.engine.transport.shm.SymmetricBuffers;

/**
 * Gather and scatter of large parts between ranks that can read each other's memory: the
 * receiver of a part copies it out of its owner's buffer.
 */
final class RootedCopy implements Algorithm {

	/**
	 * Smallest part for which pinning pages in the kernel costs less than a second copy.
	 */
	static final long MIN_READ_BYTES = 128 << 10;

	private final int rank;

	private final int worldSize;

	private final ShmTransport transport;

	private final SymmetricBuffers buffers;

	RootedCopy(int rank, int worldSize, ShmTransport transport) {
		this.rank = rank;
		this.worldSize = worldSize;
		this.transport = transport;
		this.buffers = transport.buffers();
	}

	@Override
	public void run(Call call) {
		this.buffers.post(call);
		boolean root = this.rank == call.root();
		if (call.collective() == Collective.GATHER) {
			gather(call, root);
		}
		else {
			scatter(call, root);
		}
	}

	private void gather(Call call, boolean root) {
		for (int step = 0; root && step < this.worldSize; step++) {
			int peer = (this.rank + step) % this.worldSize;
			this.transport.slots().await(peer);
			this.buffers.copy(peer, 0, call.receiveAddress() + peer * call.bytes(), call.bytes());
		}
		this.buffers.finish();
		if (!root) {
			this.buffers.awaitFinished(call.root());
		}
	}

	private void scatter(Call call, boolean root) {
		if (root) {
			NativeMemory.copy(call.sendAddress() + this.rank * call.bytes(), call.receiveAddress(), call.bytes());
			this.buffers.finish();
			this.buffers.awaitFinished();
			return;
		}
		this.transport.slots().await(call.root());
		this.buffers.copy(call.root(), this.rank * call.bytes(), call.receiveAddress(), call.bytes());
		this.buffers.finish();
	}

}
