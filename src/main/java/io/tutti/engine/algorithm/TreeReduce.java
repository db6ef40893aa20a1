package io.tutti.engine.algorithm;

import io.tutti.engine.spi.Call;
import io.tutti.engine.transport.Link;

/**
 * Tree reduce. A rank combines its own operand with the results of its children's
 * subtrees, one child after the other, so operands are combined in the order of tree
 * numbers. It forwards the result as it is computed; ranks other than the root hold only
 * a window of it. A rank sends the buffer once and receives it once per child. A binomial
 * tree has the fewest hops, {@code ceil(log2 N)}, a chain the fewest bytes.
 * <p>
 * R. Thakur, R. Rabenseifner, W. Gropp: Optimization of collective communication
 * operations in MPICH, International Journal of High Performance Computing Applications
 * 19 (2005).
 */
final class TreeReduce implements Algorithm {

	private final TreePosition tree;

	private final AlgorithmContext context;

	private final Window window;

	/** Bytes sent to the parent. */
	private long sent;

	TreeReduce(TreePosition tree, AlgorithmContext context) {
		this.tree = tree;
		this.context = context;
		this.window = new Window(context.scratch());
	}

	@Override
	public void run(Call call) {
		this.tree.prepare(call.root());
		this.window.clear();
		this.sent = 0;
		while (true) {
			boolean moved = combineAll(call) | (!this.tree.isRoot() && sendUp(call));
			if (done(call) & this.tree.receivedFingerprintsOfChildren()) {
				return;
			}
			this.context.transport().endRound(moved);
		}
	}

	private boolean combineAll(Call call) {
		boolean moved = false;
		long limit = this.tree.isRoot() ? call.bytes() : Math.min(call.bytes(), this.window.limit(call.type().bytes()));
		for (int i = 0; i < this.tree.children(); i++) {
			moved |= combine(call, i, limit);
			limit = this.tree.progress(i);
		}
		this.window.fill(limit);
		return moved;
	}

	/**
	 * Combines a child's bytes with the result of this rank and the children before it.
	 */
	private boolean combine(Call call, int index, long limit) {
		Link child = this.tree.child(index);
		int elementBytes = call.type().bytes();
		boolean moved = false;
		while (this.tree.progress(index) < limit) {
			long position = this.tree.progress(index);
			long wanted = this.tree.isRoot() ? limit - position
					: Math.min(limit - position, this.window.contiguous(position));
			long count = child.readable(wanted) / elementBytes;
			if (count == 0) {
				return moved;
			}
			long target = this.tree.isRoot() ? call.receiveAddress() + position : this.window.address(position);
			long left = (index == 0) ? call.sendAddress() + position : target;
			this.context.reduce(call, target, left, child.readAddress(), count);
			if (this.tree.isRoot() && index == this.tree.children() - 1) {
				this.context.finish(call, target, count);
			}
			child.consume(count * elementBytes);
			this.tree.advance(index, count * elementBytes);
			moved = true;
		}
		return moved;
	}

	private boolean sendUp(Call call) {
		Link parent = this.tree.parent();
		parent.flush();
		long before = this.sent;
		this.sent += (this.tree.children() > 0) ? this.window.send(parent, this.window.held())
				: parent.send(call.sendAddress() + this.sent, call.bytes() - this.sent);
		return this.sent > before;
	}

	private boolean done(Call call) {
		if (this.tree.isRoot()) {
			return this.window.filled() == call.bytes();
		}
		return this.sent == call.bytes() && this.tree.parent().sendFingerprint();
	}

}
