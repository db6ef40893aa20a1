package io.tutti.engine.p2p;

import org.jspecify.annotations.Nullable;

/**
 * Operations that wait until the other rank names their number. Few at a time, so that a
 * chain of them is looked through, and nothing is allocated.
 */
final class PendingTransfers {

	private @Nullable Operation first;

	void add(Operation operation, long id) {
		operation.id = id;
		operation.next = this.first;
		this.first = operation;
	}

	/** The operation that goes by a number; it is taken out. */
	@Nullable Operation take(long id) {
		Operation before = null;
		for (Operation operation = this.first; operation != null; operation = operation.next) {
			if (operation.id == id) {
				unlink(operation, before);
				return operation;
			}
			before = operation;
		}
		return null;
	}

	private void unlink(Operation operation, @Nullable Operation before) {
		if (before == null) {
			this.first = operation.next;
		}
		else {
			before.next = operation.next;
		}
		operation.next = null;
	}

}
