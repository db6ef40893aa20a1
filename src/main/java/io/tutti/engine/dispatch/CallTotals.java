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

	/** Number of calls that succeeded. */
	public long done() {
		return this.success.count();
	}

	/** Number of calls that threw. */
	public long failed() {
		return this.failure.count();
	}

	/** Total time of the successful calls. */
	public long doneNanos() {
		return this.success.nanos();
	}

	/** Total time of the failed calls. */
	public long failedNanos() {
		return this.failure.nanos();
	}

	/** The sum of both. */
	public CallTotals plus(CallTotals other) {
		return new CallTotals(this.success.plus(other.success), this.failure.plus(other.failure),
				this.bytes + other.bytes);
	}

}
