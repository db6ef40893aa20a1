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

	private final int worldSize;

	private final Transport transport;

	private final RootedOrder circle = new RootedOrder();

	private long received;

	private int relayed;

	TreeScatter(TreePosition place, int rank, int worldSize, Transport transport) {
		this.place = place;
		this.rank = rank;
		this.worldSize = worldSize;
		this.transport = transport;
	}

	@Override
	public void run(Call call) {
		this.place.prepare(call.root());
		this.received = 0;
		this.relayed = 0;
		if (this.place.isRoot()) {
			this.circle.prepare(call.sendAddress(), call.bytes(), this.worldSize, this.rank);
		}
		while (true) {
			this.place.flushChildren();
			boolean moved = this.place.isRoot() ? sendToChildren(call.bytes()) : relay(call);
			if (done(call.bytes())) {
				break;
			}
			this.transport.endRound(moved);
		}
		if (this.place.isRoot()) {
			NativeMemory.copy(this.circle.address(0), call.receiveAddress(), call.bytes());
		}
	}

	/**
	 * Sends each child the bytes that its link accepts; the child with the largest
	 * subtree comes first.
	 */
	private boolean sendToChildren(long part) {
		boolean moved = false;
		for (int i = this.place.children() - 1; i >= 0; i--) {
			long left = this.place.span(i) * part - this.place.progress(i);
			if (left > 0) {
				long position = this.place.start(i) * part + this.place.progress(i);
				long taken = this.place.child(i)
					.send(this.circle.address(position), Math.min(left, this.circle.contiguous(position)));
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
		if (this.received < call.bytes()) {
			long got = parent.receive(call.receiveAddress() + this.received, call.bytes() - this.received);
			this.received += got;
			moved = got > 0;
		}
		while (this.received == call.bytes() && this.relayed < this.place.children()) {
			long left = this.place.span(this.relayed) * call.bytes() - this.place.progress(this.relayed);
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

	private boolean done(long part) {
		if (!this.place.isRoot()) {
			return this.relayed == this.place.children() && this.received == part
					&& this.place.parent().greeted() & this.place.greetChildren();
		}
		for (int i = 0; i < this.place.children(); i++) {
			if (this.place.progress(i) < this.place.span(i) * part) {
				return false;
			}
		}
		return this.place.greetChildren();
	}

}
