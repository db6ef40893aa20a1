package io.tutti.engine;

import java.lang.invoke.VarHandle;
import java.util.Arrays;

import org.jspecify.annotations.Nullable;

/**
 * The last calls that a rank has entered, for another thread to look up. Written by
 * whoever holds the turn, without allocation; a reader never gets a call that is being
 * overwritten.
 */
final class RecentCalls {

	/**
	 * How far a rank may run ahead of another that it needs nothing from, such as the
	 * root of broadcasts, and still say what it called there; takes 2 KiB.
	 */
	static final int REMEMBERED = 64;

	private static final int WORDS = 4;

	private final long[] words = new long[REMEMBERED * WORDS];

	private volatile long last = -1;

	RecentCalls() {
		Arrays.fill(this.words, -1);
	}

	/** The sequence number of the last call that was entered, -1 for none. */
	long last() {
		return this.last;
	}

	/** Takes in the next call. */
	void enter(Call call) {
		// Whoever sees what follows also sees that the call before was the last.
		VarHandle.releaseFence();
		int at = place(call.sequence());
		this.words[at] = call.sequence();
		this.words[at + 1] = call.count();
		this.words[at + 2] = call.what();
		this.words[at + 3] = call.countsDigest();
		this.last = call.sequence();
	}

	/**
	 * The call with a sequence number, {@code null} if it has not begun or is forgotten.
	 */
	@Nullable CallSignature find(long sequence) {
		if (sequence < 0 || sequence > this.last) {
			return null;
		}
		int at = place(sequence);
		long found = this.words[at];
		long count = this.words[at + 1];
		long what = this.words[at + 2];
		long digest = this.words[at + 3];
		VarHandle.acquireFence();
		boolean beingOverwritten = this.last >= sequence + REMEMBERED - 1;
		if (found != sequence || beingOverwritten) {
			return null;
		}
		return new CallSignature(sequence, Collective.ofOrdinal((int) (what >> 16 & 0xff)), count, (int) digest,
				DataType.ofOrdinal((int) (what >> 8 & 0xff)), ReduceOp.ofOrdinal((int) (what & 0xff)),
				(int) (what >> 32));
	}

	private static int place(long sequence) {
		return (int) (sequence % REMEMBERED) * WORDS;
	}

}
