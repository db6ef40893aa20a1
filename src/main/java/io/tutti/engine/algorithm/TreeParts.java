package io.tutti.engine.algorithm;

import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.Link;
import io.tutti.engine.transport.Transport;

/**
 * Tree scatter. A rank receives its own part and relays those of its subtree, which
 * follow in order, directly from the staging buffer of one link to the next, so it needs
 * no memory for them. In a star the root sends each rank its part. In a binomial tree it
 * sends to {@code ceil(log2 N)} ranks, and small parts are sent together.
 * <p>
 * R. Thakur, R. Rabenseifner, W. Gropp: Optimization of collective communication
 * operations in MPICH, International Journal of High Performance Computing Applications
 * 19 (2005).
 */
final class TreeScatter implements Algorithm {

	private final TreePosition tree;

	private final int rank;

	private final Transport transport;

	private final Chunks chunks;

	private final RootedOrder order;

	private long received;

	TreeScatter(TreePosition tree, int rank, int worldSize, Transport transport, Chunks chunks) {
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
		this.received = 0;
		this.order.prepare(call.root(), call.sendAddress());
		while (true) {
			this.tree.flushChildren();
			boolean moved = this.tree.isRoot() ? sendToChildren() : relay(call);
			if (done()) {
				break;
			}
			this.transport.endRound(moved);
		}
		if (this.tree.isRoot()) {
			NativeMemory.copy(this.order.address(0), call.receiveAddress(), this.chunks.length(this.rank));
		}
	}

	/**
	 * Sends each child the bytes that its link accepts; the child with the largest
	 * subtree comes first.
	 */
	private boolean sendToChildren() {
		boolean moved = false;
		for (int i = this.tree.children() - 1; i >= 0; i--) {
			long left = this.order.left(i);
			if (left > 0) {
				long position = this.order.position(i);
				long taken = this.tree.child(i)
					.send(this.order.address(position), Math.min(left, this.order.contiguous(position)));
				this.tree.advance(i, taken);
				moved |= taken > 0;
			}
		}
		return moved;
	}

	/** Receives this rank's part, then relays those of its children's subtrees. */
	private boolean relay(Call call) {
		Link parent = this.tree.parent();
		boolean moved = false;
		long own = this.chunks.length(this.rank);
		if (this.received < own) {
			long got = parent.receive(call.receiveAddress() + this.received, own - this.received);
			this.received += got;
			moved = got > 0;
		}
		return (this.received == own && this.order.relay(false)) || moved;
	}

	private boolean done() {
		if (!this.tree.isRoot()) {
			return this.order.relayed() && this.received == this.chunks.length(this.rank)
					&& this.tree.parent().fingerprintReceived() & this.tree.sendFingerprintToChildren();
		}
		return this.order.complete() && this.tree.sendFingerprintToChildren();
	}

}
