package io.tutti.engine.algorithm;

import java.util.Arrays;

import io.tutti.engine.transport.Link;
import io.tutti.engine.transport.Transport;

/**
 * This rank's position in a tree: its parent, its children, and the bytes transferred
 * with each child in the current call.
 */
final class TreePosition {

	private final Tree tree;

	private final int rank;

	private final int worldSize;

	private final Transport transport;

	private int root = -1;

	private int number;

	/** First number after this rank's subtree. */
	private int end;

	private int parentRank;

	private long[] progress = {};

	TreePosition(Tree tree, AlgorithmContext context) {
		this.tree = tree;
		this.rank = context.rank();
		this.worldSize = context.worldSize();
		this.transport = context.transport();
	}

	/** Prepares for a call with the given root. */
	void prepare(int root) {
		if (this.root != root) {
			this.root = root;
			locate();
		}
		Arrays.fill(this.progress, 0);
	}

	/** Descends from the root to this rank's number. */
	private void locate() {
		this.number = Math.floorMod(this.rank - this.root, this.worldSize);
		this.parentRank = -1;
		int at = 0;
		this.end = this.worldSize;
		while (at != this.number) {
			int index = this.tree.children(at, this.end) - 1;
			while (this.tree.child(at, index, this.end) > this.number) {
				index--;
			}
			this.parentRank = rankOf(at);
			int child = this.tree.child(at, index, this.end);
			this.end = this.tree.endOfChild(at, index, this.end);
			at = child;
		}
		int children = this.tree.children(this.number, this.end);
		if (this.progress.length != children) {
			this.progress = new long[children];
		}
	}

	private int rankOf(int number) {
		return (number + this.root) % this.worldSize;
	}

	boolean isRoot() {
		return this.number == 0;
	}

	Link parent() {
		return this.transport.link(this.parentRank);
	}

	int children() {
		return this.progress.length;
	}

	Link child(int index) {
		return this.transport.link(rankOf(start(index)));
	}

	/** Tree number of a child, which is the first of its subtree. */
	int start(int index) {
		return this.tree.child(this.number, index, this.end);
	}

	/** First tree number after a child's subtree. */
	int end(int index) {
		return this.tree.endOfChild(this.number, index, this.end);
	}

	/** Bytes sent to or received from a child so far. */
	long progress(int index) {
		return this.progress[index];
	}

	void advance(int index, long bytes) {
		this.progress[index] += bytes;
	}

	/** Flushes the links to the children. */
	void flushChildren() {
		for (int i = 0; i < children(); i++) {
			child(i).flush();
		}
	}

	/**
	 * Sends the fingerprint to all children and returns whether their links are flushed.
	 */
	boolean sendFingerprintToChildren() {
		boolean done = true;
		for (int i = 0; i < children(); i++) {
			done &= child(i).sendFingerprint();
		}
		return done;
	}

	/** Whether the fingerprints of all children have arrived. */
	boolean receivedFingerprintsOfChildren() {
		boolean done = true;
		for (int i = 0; i < children(); i++) {
			done &= child(i).fingerprintReceived();
		}
		return done;
	}

}
