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

	private final TreePosition tree;

	private final int rank;

	private final Transport transport;

	private final Chunks chunks;

	private final RootedOrder order;

	private long sent;

	TreeGather(TreePosition tree, int rank, int worldSize, Transport transport, Chunks chunks) {
		this.tree = tree;
		this.rank = rank;
		this.transport = transport;
		this.chunks = chunks;
		this.order = new RootedOrder(tree, chunks, worldSize);
	}

	@Override
	public void run(Call call) {
		this.chunks.ofParts(call);
		this.tree.prepare(call.root());
		this.order.prepare(call.root(), call.receiveAddress());
		this.sent = 0;
		if (this.tree.isRoot()) {
			NativeMemory.copy(call.sendAddress(), this.order.address(0), this.chunks.length(this.rank));
		}
		while (true) {
			boolean moved = this.tree.isRoot() ? receiveFromChildren() : relay(call);
			if (done()) {
				return;
			}
			this.transport.endRound(moved);
		}
	}

	/** Receives the available bytes from every child. */
	private boolean receiveFromChildren() {
		boolean moved = false;
		for (int i = 0; i < this.tree.children(); i++) {
			long left = this.order.left(i);
			if (left > 0) {
				long position = this.order.position(i);
				long got = this.tree.child(i)
					.receive(this.order.address(position), Math.min(left, this.order.contiguous(position)));
				this.tree.advance(i, got);
				moved |= got > 0;
			}
		}
		return moved;
	}

	/** Sends this rank's part, then relays those of its children's subtrees. */
	private boolean relay(Call call) {
		Link parent = this.tree.parent();
		parent.flush();
		boolean moved = false;
		long own = this.chunks.length(this.rank);
		if (this.sent < own) {
			long taken = parent.send(call.sendAddress() + this.sent, own - this.sent);
			this.sent += taken;
			moved = taken > 0;
		}
		return (this.sent == own && this.order.relay(true)) || moved;
	}

	private boolean done() {
		if (!this.tree.isRoot()) {
			return this.order.relayed() && this.sent == this.chunks.length(this.rank)
					&& this.tree.parent().sendFingerprint() & this.tree.receivedFingerprintsOfChildren();
		}
		return this.order.complete() && this.tree.receivedFingerprintsOfChildren();
	}

}
