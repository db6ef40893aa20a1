package io.tutti.engine.algorithm;

import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.Link;
import io.tutti.engine.transport.Transport;

/**
 * Tree gather. A rank sends its own part and then relays those of its subtree, in order,
 * directly from the staging buffer of one link to the next, so it needs no memory for
 * them. In a star each rank sends only its own part. In a binomial tree the root receives
 * from {@code ceil(log2 N)} ranks, and small parts are sent together.
 * <p>
 * R. Thakur, R. Rabenseifner, W. Gropp: Optimization of collective communication
 * operations in MPICH, International Journal of High Performance Computing Applications
 * 19 (2005).
 */
final class TreeGather implements Algorithm {

	private final TreePosition place;

	private final int rank;

	private final Transport transport;

	private final Chunks chunks;

	private final RootedOrder order;

	private long sent;

	private int relayed;

	TreeGather(TreePosition place, int rank, int worldSize, Transport transport, Chunks chunks) {
		this.place = place;
		this.rank = rank;
		this.transport = transport;
		this.chunks = chunks;
		this.order = new RootedOrder(chunks, worldSize);
	}

	@Override
	public void run(Call call) {
		this.chunks.ofParts(call);
		this.place.prepare(call.root());
		this.order.prepare(call.root(), call.receiveAddress());
		this.sent = 0;
		this.relayed = 0;
		if (this.place.isRoot()) {
			NativeMemory.copy(call.sendAddress(), this.order.address(0), this.chunks.length(this.rank));
		}
		while (true) {
			boolean moved = this.place.isRoot() ? receiveFromChildren() : relay(call);
			if (done()) {
				return;
			}
			this.transport.endRound(moved);
		}
	}

	/** Receives the available bytes from every child. */
	private boolean receiveFromChildren() {
		boolean moved = false;
		for (int i = 0; i < this.place.children(); i++) {
			long left = subtreeBytes(i) - this.place.progress(i);
			if (left > 0) {
				long position = this.order.offset(this.place.start(i)) + this.place.progress(i);
				long got = this.place.child(i)
					.receive(this.order.address(position), Math.min(left, this.order.contiguous(position)));
				this.place.advance(i, got);
				moved |= got > 0;
			}
		}
		return moved;
	}

	/** Sends this rank's part, then relays those of its children's subtrees. */
	private boolean relay(Call call) {
		Link parent = this.place.parent();
		parent.flush();
		boolean moved = false;
		long own = this.chunks.length(this.rank);
		if (this.sent < own) {
			long taken = parent.send(call.sendAddress() + this.sent, own - this.sent);
			this.sent += taken;
			moved = taken > 0;
		}
		while (this.sent == own && this.relayed < this.place.children()) {
			long left = subtreeBytes(this.relayed) - this.place.progress(this.relayed);
			if (left == 0) {
				this.relayed++;
				continue;
			}
			long taken = Relay.move(this.place.child(this.relayed), parent, left);
			if (taken == 0) {
				return moved;
			}
			this.place.advance(this.relayed, taken);
			moved = true;
		}
		return moved;
	}

	private long subtreeBytes(int child) {
		return this.order.bytes(this.place.start(child), this.place.end(child));
	}

	private boolean done() {
		if (!this.place.isRoot()) {
			return this.relayed == this.place.children() && this.sent == this.chunks.length(this.rank)
					&& this.place.parent().greet() & this.place.childrenGreeted();
		}
		for (int i = 0; i < this.place.children(); i++) {
			if (this.place.progress(i) < subtreeBytes(i)) {
				return false;
			}
		}
		return this.place.childrenGreeted();
	}

}
