package io.tutti.engine.algorithm;

import io.tutti.engine.spi.Call;
import io.tutti.engine.transport.Transport;

/**
 * Tree broadcast. Bytes are forwarded to all children as they arrive, so a long buffer is
 * pipelined through the whole tree. A rank receives the buffer once and sends it once per
 * child. A binomial tree has the fewest hops, {@code ceil(log2 N)}, a chain the fewest
 * bytes.
 * <p>
 * E. Chan et al.: Collective communication: theory, practice, and experience, Concurrency
 * and Computation 19 (2007).
 */
record TreeBroadcast(TreePosition tree, Transport transport) implements Algorithm {

	@Override
	public void run(Call call) {
		this.tree.prepare(call.root());
		long address = call.receiveAddress();
		long bytes = call.bytes();
		long received = this.tree.isRoot() ? bytes : 0;
		while (true) {
			long before = received;
			if (received < bytes) {
				received += this.tree.parent().receive(address + received, bytes - received);
			}
			boolean moved = received > before | forward(address, received);
			if (received == bytes && done(bytes)) {
				return;
			}
			this.transport.endRound(moved);
		}
	}

	/**
	 * Forwards received bytes to each child; the child with the largest subtree comes
	 * first.
	 */
	private boolean forward(long address, long received) {
		this.tree.flushChildren();
		boolean moved = false;
		for (int i = this.tree.children() - 1; i >= 0; i--) {
			long sent = this.tree.progress(i);
			if (sent < received) {
				long taken = this.tree.child(i).send(address + sent, received - sent);
				this.tree.advance(i, taken);
				moved |= taken > 0;
			}
		}
		return moved;
	}

	private boolean done(long bytes) {
		for (int i = 0; i < this.tree.children(); i++) {
			if (this.tree.progress(i) < bytes) {
				return false;
			}
		}
		return this.tree.sendFingerprintToChildren() & (this.tree.isRoot() || this.tree.parent().fingerprintReceived());
	}

}
