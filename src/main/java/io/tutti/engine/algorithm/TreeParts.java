package io.tutti.engine.algorithm;

import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.NativeMemory;
import io.tutti.engine.transport.Link;

/**
 * Tree gather and tree scatter, which differ in the direction only. The root exchanges
 * the parts of each child's subtree with that child. Another rank exchanges its own part
 * with its parent and then relays those of its subtree, in order, directly from the
 * staging buffer of one link to the next, so it needs no memory for them. In a star the
 * root exchanges each part with its rank. In a binomial tree it communicates with
 * {@code ceil(log2 N)} ranks, and small parts are sent together.
 * <p>
 * R. Thakur, R. Rabenseifner, W. Gropp: Optimization of collective communication
 * operations in MPICH, International Journal of High Performance Computing Applications
 * 19 (2005).
 */
final class TreeParts implements Algorithm {

	/**
	 * How much of its own part the root copies at once, while no other part can move: as
	 * much as one read, so that what arrives meanwhile is read while it is in the cache.
	 */
	private static final long COPY_BYTES = 512 * 1024;

	private final TreePosition tree;

	/** Whether parts move towards the root. */
	private final boolean gathering;

	private final AlgorithmContext context;

	private final Chunks chunks;

	private int root;

	/** Address of the root's buffer of all parts; of this rank's own part elsewhere. */
	private long address;

	/** Bytes of this rank's own part that have moved. */
	private long own;

	/** Children whose subtrees are relayed. */
	private int relayed;

	TreeParts(TreePosition tree, boolean gathering, AlgorithmContext context) {
		this.tree = tree;
		this.gathering = gathering;
		this.context = context;
		this.chunks = context.chunks();
	}

	@Override
	public void run(Call call) {
		this.chunks.ofParts(call);
		this.root = call.root();
		this.tree.prepare(this.root);
		boolean atRoot = this.tree.isRoot();
		this.address = (atRoot == this.gathering) ? call.receiveAddress() : call.sendAddress();
		this.own = 0;
		this.relayed = 0;
		if (atRoot && this.gathering) {
			copyOwn(call);
		}
		while (true) {
			flush();
			boolean moved = atRoot ? exchangeSubtrees() || copyOwn(call) : exchangeOwn() | relaySubtrees();
			if (done(atRoot)) {
				return;
			}
			this.context.transport().endRound(moved);
		}
	}

	/** Copies more of the root's own part between its two buffers. */
	private boolean copyOwn(Call call) {
		long bytes = Math.min(COPY_BYTES, ownBytes() - this.own);
		long inParts = this.address + physical(0) + this.own;
		if (this.gathering) {
			NativeMemory.copy(call.sendAddress() + this.own, inParts, bytes);
		}
		else {
			NativeMemory.copy(inParts, call.receiveAddress() + this.own, bytes);
		}
		this.own += bytes;
		return bytes > 0;
	}

	private void flush() {
		if (!this.gathering) {
			this.tree.flushChildren();
		}
		else if (!this.tree.isRoot()) {
			this.tree.parent().flush();
		}
	}

	/**
	 * Moves the bytes that each child's link accepts or has; the child with the largest
	 * subtree comes first. A scatter sends to the next child only if the links before are
	 * blocked: the bytes in transit stay in the cache, and the other ranks leave the
	 * cores of an oversubscribed host to the sender and the receiver.
	 */
	private boolean exchangeSubtrees() {
		boolean moved = false;
		for (int i = this.tree.children() - 1; i >= 0 && (this.gathering || !moved); i--) {
			long left = left(i);
			if (left > 0) {
				long start = physical(offset(this.tree.start(i)) + this.tree.progress(i));
				long bytes = Math.min(left, this.chunks.totalBytes() - start);
				long taken = transfer(!this.gathering, this.tree.child(i), this.address + start, bytes);
				this.tree.advance(i, taken);
				moved |= taken > 0;
			}
		}
		return moved;
	}

	private boolean exchangeOwn() {
		long left = ownBytes() - this.own;
		if (left == 0) {
			return false;
		}
		long taken = transfer(this.gathering, this.tree.parent(), this.address + this.own, left);
		this.own += taken;
		return taken > 0;
	}

	private static long transfer(boolean sending, Link link, long address, long bytes) {
		return sending ? link.send(address, bytes) : link.receive(address, bytes);
	}

	/** Moves what is possible of the subtrees, one after the other. */
	private boolean relaySubtrees() {
		boolean moved = false;
		while (this.own == ownBytes() && this.relayed < this.tree.children()) {
			long left = left(this.relayed);
			if (left == 0) {
				this.relayed++;
				continue;
			}
			Link child = this.tree.child(this.relayed);
			long taken = this.gathering ? forward(child, this.tree.parent(), left)
					: forward(this.tree.parent(), child, left);
			if (taken == 0) {
				return moved;
			}
			this.tree.advance(this.relayed, taken);
			moved = true;
		}
		return moved;
	}

	/** Forwards the bytes that are available now out of a link's staging buffer. */
	private static long forward(Link from, Link to, long bytes) {
		long readable = from.readable(bytes);
		if (readable == 0) {
			return 0;
		}
		long taken = to.send(from.readAddress(), readable);
		from.consume(taken);
		return taken;
	}

	private boolean done(boolean atRoot) {
		if (this.own < ownBytes() || !atRoot && this.relayed < this.tree.children()) {
			return false;
		}
		for (int i = 0; i < this.tree.children(); i++) {
			if (left(i) > 0) {
				return false;
			}
		}
		if (this.gathering) {
			return (atRoot || this.tree.parent().sendFingerprint()) & this.tree.receivedFingerprintsOfChildren();
		}
		return (atRoot || this.tree.parent().fingerprintReceived()) & this.tree.sendFingerprintToChildren();
	}

	private long ownBytes() {
		return this.chunks.length(this.context.rank());
	}

	/** Bytes of a child's subtree that have not moved. */
	private long left(int child) {
		return offset(this.tree.end(child)) - offset(this.tree.start(child)) - this.tree.progress(child);
	}

	/**
	 * Offset of a tree number's part from the root's part. The part of the last rank is
	 * followed by that of rank 0.
	 */
	private long offset(int number) {
		int rank = this.root + number;
		int worldSize = this.context.worldSize();
		long offset = (rank < worldSize) ? this.chunks.start(rank)
				: this.chunks.totalBytes() + this.chunks.start(rank - worldSize);
		return offset - this.chunks.start(this.root);
	}

	/** Offset in the buffer of an offset from the root's part. */
	private long physical(long offset) {
		long physical = offset + this.chunks.start(this.root);
		return (physical < this.chunks.totalBytes()) ? physical : physical - this.chunks.totalBytes();
	}

}
