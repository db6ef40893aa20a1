package io.tutti.engine.dispatch;

/**
 * Totals of one collective in a group on this rank.
 *
 * @param done calls that succeeded
 * @param failed calls that threw
 * @param bytes bytes of the successful calls, see {@link CallRecord#bytes()}
 * @param doneNanos total time of the successful calls
 * @param failedNanos total time of the failed calls
 */
public record CallTotals(long done, long failed, long bytes, long doneNanos, long failedNanos) {

	/** No calls. */
	public static final CallTotals NONE = new CallTotals(0, 0, 0, 0, 0);

	/** The sum of both. */
	public CallTotals plus(CallTotals other) {
		return new CallTotals(this.done + other.done, this.failed + other.failed, this.bytes + other.bytes,
				this.doneNanos + other.doneNanos, this.failedNanos + other.failedNanos);
	}

}
