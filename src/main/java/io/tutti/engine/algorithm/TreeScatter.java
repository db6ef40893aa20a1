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

	private final TreePosition place;

	private final int rank;

	private final Transport transport;

	private final Chunks chunks;

	private final RootedOrder order;

	private long received;

	private int relayed;

	TreeScatter(TreePosition place, int rank, int worldSize, Transport transport, Chunks chunks) {
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
		this.received = 0;
		this.relayed = 0;
		this.order.prepare(call.root(), call.sendAddress());
		while (true) {
			this.place.flushChildren();
			boolean moved = this.place.isRoot() ? sendToChildren() : relay(call);
			if (done()) {
				break;
			}
			this.transport.endRound(moved);
		}
		if (this.place.isRoot()) {
			NativeMemory.copy(this.order.address(0), call.receiveAddress(), this.chunks.length(this.rank));
		}
	}

	/**
	 * Sends each child the bytes that its link accepts; the child with the largest
	 * subtree comes first.
	 */
	private boolean sendToChildren() {
		boolean moved = false;
		for (int i = this.place.children() - 1; i >= 0; i--) {
			long left = subtreeBytes(i) - this.place.progress(i);
			if (left > 0) {
				long position = this.order.offset(this.place.start(i)) + this.place.progress(i);
				long taken = this.place.child(i)
					.send(this.order.address(position), Math.min(left, this.order.contiguous(position)));
				this.place.advance(i, taken);
				moved |= taken > 0;
			}
		}
		return moved;
	}

	/** Receives this rank's part, then relays those of its children's subtrees. */
	private boolean relay(Call call) {
		Link parent = this.place.parent();
		boolean moved = false;
		long own = this.chunks.length(this.rank);
		if (this.received < own) {
			long got = parent.receive(call.receiveAddress() + this.received, own - this.received);
			this.received += got;
			moved = got > 0;
		}
		while (this.received == own && this.relayed < this.place.children()) {
			long left = subtreeBytes(this.relayed) - this.place.progress(this.relayed);
			if (left == 0) {
				this.relayed++;
				continue;
			}
			long taken = Relay.move(parent, this.place.child(this.relayed), left);
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
			return this.relayed == this.place.children() && this.received == this.chunks.length(this.rank)
					&& this.place.parent().greeted() & this.place.greetChildren();
		}
		for (int i = 0; i < this.place.children(); i++) {
			if (this.place.progress(i) < subtreeBytes(i)) {
				return false;
			}
		}
		return this.place.greetChildren();
	}

}
