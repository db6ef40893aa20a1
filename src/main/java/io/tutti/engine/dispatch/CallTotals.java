package io.tutti.engine.dispatch;

/**
 * What a group has done so far of one collective, on this rank.
 *
 * @param done calls that ended well
 * @param failed calls that threw
 * @param bytes bytes of those that ended well, see {@link CallRecord#bytes()}
 * @param doneNanos time that they took together
 * @param failedNanos time that the others took together
 */
public record CallTotals(long done, long failed, long bytes, long doneNanos, long failedNanos) {

	/** Nothing has been done. */
	public static final CallTotals NONE = new CallTotals(0, 0, 0, 0, 0);

	/** Both together. */
	public CallTotals plus(CallTotals other) {
		return new CallTotals(this.done + other.done, this.failed + other.failed, this.bytes + other.bytes,
				this.doneNanos + other.doneNanos, this.failedNanos + other.failedNanos);
	}

}
