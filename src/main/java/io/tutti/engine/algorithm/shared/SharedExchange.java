package io.tutti.engine.algorithm.shared;

import io.tutti.Collective;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.shm.ShmTransport;

/**
 * All-gather, all-to-all, gather and scatter of large buffers. Where the buffers of all
 * ranks are accessible in place or can be read, each rank copies the parts addressed to
 * it once. Otherwise each rank stages slices of its parts, and copies those addressed to
 * it from the slots of the others as they arrive. In an all-gather a rank's only part is
 * addressed to all, in a gather to the root. In a scatter only the root has parts.
 */
final class SharedExchange extends PartCollective {

	SharedExchange(int rank, int worldSize, ShmTransport transport, Collective collective) {
		super(rank, worldSize, transport, collective);
	}

	@Override
	public void runDirectly(Call call, boolean inPlace) {
		if (!receives(call, this.rank)) {
			return;
		}
		for (int step = 1; step < this.worldSize; step++) {
			int peer = (this.rank + step) % this.worldSize;
			if (sends(call, peer)) {
				this.buffers.copy(peer, part(call, this.rank), target(call, peer), call.bytes());
			}
		}
	}

	@Override
	public void take(Call call, long chunk) {
		for (int step = 1; step < this.worldSize; step++) {
			int peer = (this.rank + step) % this.worldSize;
			if (sends(call, peer)) {
				NativeMemory.copy(staged(peer, chunk), target(call, peer) + start(chunk), length(call, chunk));
			}
		}
	}

	@Override
	public void copyOwnPart(Call call) {
		boolean rooted = this.collective == Collective.GATHER || this.collective == Collective.SCATTER;
		if (rooted && this.rank != call.root()) {
			return;
		}
		long source = call.sendAddress() + part(call, this.rank);
		long target = target(call, this.rank);
		if (this.collective == Collective.SCATTER) {
			NativeMemory.copy(source, target, call.bytes());
		}
		else {
			NativeMemory.copyOwn(source, target, call.bytes());
		}
	}

	/** Address of a peer's part in the receive buffer. */
	private long target(Call call, int peer) {
		return call.receiveAddress() + ((this.collective == Collective.SCATTER) ? 0 : peer * call.bytes());
	}

}
