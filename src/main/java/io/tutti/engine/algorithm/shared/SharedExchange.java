package io.tutti.engine.algorithm.shared;

import io.tutti.Collective;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.shm.PeerBuffers;
import io.tutti.engine.transport.shm.ShmTransport;

/**
 * All-gather, all-to-all, gather and scatter of large buffers. Where the buffers of all
 * ranks are accessible in place or can be read, each rank copies the parts addressed to
 * it once. Otherwise each rank stages slices of its parts, and copies those addressed to
 * it from the slots of the others as they arrive. In an all-gather a rank's only part is
 * addressed to all, in a gather to the root. In a scatter only the root has parts.
 */
final class SharedExchange implements LargeCollective {

	private final int rank;

	private final int worldSize;

	private final PeerBuffers buffers;

	private final Collective collective;

	private final PartSlices slices;

	SharedExchange(int rank, int worldSize, ShmTransport transport, Collective collective) {
		this.rank = rank;
		this.worldSize = worldSize;
		this.buffers = transport.buffers();
		this.collective = collective;
		this.slices = new PartSlices(rank, worldSize, transport.pipeline(),
				collective == Collective.ALL_TO_ALL || collective == Collective.SCATTER);
	}

	@Override
	public boolean post(Call call, boolean readable) {
		return this.buffers.post(call, readable) || !sends(call, this.rank);
	}

	@Override
	public boolean readable() {
		return true;
	}

	@Override
	public boolean sends(Call call, int rank) {
		return switch (this.collective) {
			case GATHER -> rank != call.root();
			case SCATTER -> rank == call.root();
			default -> true;
		};
	}

	@Override
	public boolean receives(Call call, int rank) {
		return switch (this.collective) {
			case GATHER -> rank == call.root();
			case SCATTER -> rank != call.root();
			default -> true;
		};
	}

	@Override
	public void runDirectly(Call call, boolean inPlace) {
		if (!receives(call, this.rank)) {
			return;
		}
		for (int step = 1; step < this.worldSize; step++) {
			int peer = (this.rank + step) % this.worldSize;
			if (sends(call, peer)) {
				this.buffers.copy(peer, this.slices.part(call, this.rank), part(call, peer), call.bytes());
			}
		}
	}

	@Override
	public long divide(Call call) {
		return this.slices.divide(call);
	}

	@Override
	public long chunks(Call call) {
		return this.slices.chunks(call);
	}

	@Override
	public void put(Call call, long chunk) {
		this.slices.put(call, chunk);
	}

	@Override
	public void take(Call call, long chunk) {
		for (int step = 1; step < this.worldSize; step++) {
			int peer = (this.rank + step) % this.worldSize;
			if (sends(call, peer)) {
				NativeMemory.copy(this.slices.staged(peer, chunk), target(call, peer, chunk),
						this.slices.length(call, chunk));
			}
		}
	}

	@Override
	public void copyOwnPart(Call call) {
		boolean rooted = this.collective == Collective.GATHER || this.collective == Collective.SCATTER;
		if (!rooted || this.rank == call.root()) {
			NativeMemory.copy(call.sendAddress() + this.slices.part(call, this.rank), part(call, this.rank),
					call.bytes());
		}
	}

	private long target(Call call, int peer, long chunk) {
		return part(call, peer) + this.slices.start(chunk);
	}

	/** Address of a peer's part in the receive buffer. */
	private long part(Call call, int peer) {
		return call.receiveAddress() + ((this.collective == Collective.SCATTER) ? 0 : peer * call.bytes());
	}

}
