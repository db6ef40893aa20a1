package io.tutti.engine.spi;

import java.time.Duration;

/**
 * A rank's report of its call at one sequence number of a group, which rank 0 compares
 * with the calls of the other ranks.
 *
 * @param group name of the group
 * @param call the call
 * @param memory memory kind of the buffers
 * @param elapsed time that the rank has waited in the call, zero if it does not wait
 * @param timeout timeout of the call, zero if the rank does not wait
 */
public record CallReport(String group, CallSignature call, MemoryKind memory, Duration elapsed, Duration timeout) {

	/** A call that has begun and whose buffers a backend has inspected. */
	public static CallReport begun(String group, Call call) {
		return new CallReport(group, CallSignature.of(call), call.memory(), call.deadline().elapsed(),
				call.deadline().timeout());
	}

	/** A call that has begun and whose buffers no backend has inspected. */
	public static CallReport unseen(String group, Call call) {
		return new CallReport(group, CallSignature.of(call), MemoryKind.UNKNOWN, call.deadline().elapsed(),
				call.deadline().timeout());
	}

	/** A call that may have ended. */
	public static CallReport remembered(String group, CallSignature call, MemoryKind memory) {
		return new CallReport(group, call, memory, Duration.ZERO, Duration.ZERO);
	}

	/** Whether two ranks that report these calls at one sequence number disagree. */
	public boolean differsFrom(CallReport other) {
		return !this.call.equals(other.call) || this.memory.differsFrom(other.memory);
	}

	/**
	 * Describes this call, with its memory kind if the other call's memory kind differs.
	 */
	public String against(CallReport other) {
		return this.memory.differsFrom(other.memory) ? this.call + " " + this.memory : this.call.toString();
	}

}
