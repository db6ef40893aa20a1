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

	private final int worldSize;

	private final Transport transport;

	private final RootedOrder circle = new RootedOrder();

	private long sent;

	private int relayed;

	TreeGather(TreePosition place, int rank, int worldSize, Transport transport) {
		this.place = place;
		this.rank = rank;
		this.worldSize = worldSize;
		this.transport = transport;
	}

	@Override
	public void run(Call call) {
		this.place.prepare(call.root());
		this.sent = 0;
		this.relayed = 0;
		if (this.place.isRoot()) {
			this.circle.prepare(call.receiveAddress(), call.bytes(), this.worldSize, this.rank);
			NativeMemory.copy(call.sendAddress(), this.circle.address(0), call.bytes());
		}
		while (true) {
			boolean moved = this.place.isRoot() ? receiveFromChildren(call.bytes()) : relay(call);
			if (done(call.bytes())) {
				return;
			}
			this.transport.endRound(moved);
		}
	}

	/** Receives the available bytes from every child. */
	private boolean receiveFromChildren(long part) {
		boolean moved = false;
		for (int i = 0; i < this.place.children(); i++) {
			long left = this.place.span(i) * part - this.place.progress(i);
			if (left > 0) {
				long position = this.place.start(i) * part + this.place.progress(i);
				long got = this.place.child(i)
					.receive(this.circle.address(position), Math.min(left, this.circle.contiguous(position)));
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
		if (this.sent < call.bytes()) {
			long taken = parent.send(call.sendAddress() + this.sent, call.bytes() - this.sent);
			this.sent += taken;
			moved = taken > 0;
		}
		while (this.sent == call.bytes() && this.relayed < this.place.children()) {
			long left = this.place.span(this.relayed) * call.bytes() - this.place.progress(this.relayed);
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

	private boolean done(long part) {
		if (!this.place.isRoot()) {
			return this.relayed == this.place.children() && this.sent == part
					&& this.place.parent().greet() & this.place.childrenGreeted();
		}
		for (int i = 0; i < this.place.children(); i++) {
			if (this.place.progress(i) < this.place.span(i) * part) {
				return false;
			}
		}
		return this.place.childrenGreeted();
	}

}
