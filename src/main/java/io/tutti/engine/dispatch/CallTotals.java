package io.tutti.engine.dispatch;

/**
 * Totals of one collective in a group on this rank.
 *
 * @param success durations of the calls that succeeded
 * @param failure durations of the calls that threw
 * @param bytes bytes of the successful calls, see {@link CallRecord#bytes()}
 */
public record CallTotals(CallDurations success, CallDurations failure, long bytes) {

	/** No calls. */
	public static final CallTotals NONE = new CallTotals(CallDurations.NONE, CallDurations.NONE, 0);

	/** The sum of both. */
	public CallTotals plus(CallTotals other) {
		return new CallTotals(this.success.plus(other.success), this.failure.plus(other.failure),
				this.bytes + other.bytes);
	}

}
