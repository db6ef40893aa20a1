package io.tutti.engine.spi;

import java.time.Duration;

/**
 * A rank's word on what it has called at one place in a group's order, for rank 0 to
 * compare with what others have called there.
 *
 * @param group name of the group
 * @param call what was called
 * @param memory where the buffers are
 * @param elapsed time that the rank has waited in the call, zero if it does not wait
 * @param timeout time that the call was given, zero if the rank does not wait
 */
public record CallReport(String group, CallSignature call, MemoryKind memory, Duration elapsed, Duration timeout) {

	/** A call that has begun and whose buffers were looked at. */
	public static CallReport begun(String group, Call call) {
		return new CallReport(group, CallSignature.of(call), call.memory(), call.deadline().elapsed(),
				call.deadline().timeout());
	}

	/** A call that has begun and whose buffers nobody has looked at. */
	public static CallReport unseen(String group, Call call) {
		return new CallReport(group, CallSignature.of(call), MemoryKind.UNKNOWN, call.deadline().elapsed(),
				call.deadline().timeout());
	}

	/** A call that may be over. */
	public static CallReport remembered(String group, CallSignature call, MemoryKind memory) {
		return new CallReport(group, call, memory, Duration.ZERO, Duration.ZERO);
	}

	/** Whether ranks that call these at one place do not fit together. */
	public boolean differsFrom(CallReport other) {
		return !this.call.equals(other.call) || this.memory.differsFrom(other.memory);
	}

	/** What was called, and in which memory if the other differs in that. */
	public String against(CallReport other) {
		return this.memory.differsFrom(other.memory) ? this.call + " " + this.memory : this.call.toString();
	}

}
