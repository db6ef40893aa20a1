package io.tutti.engine;

import java.time.Duration;

/**
 * A rank's word on what it has called at one place in a group's order, for rank 0 to
 * compare with what others have called there.
 *
 * @param group name of the group
 * @param call what was called
 * @param elapsed time that the rank has waited in the call, zero if it does not wait
 * @param timeout time that the call was given, zero if the rank does not wait
 */
public record CallPost(String group, CallSignature call, Duration elapsed, Duration timeout) {

	/** A call that has begun. */
	public static CallPost begun(String group, Call call) {
		return new CallPost(group, CallSignature.of(call), call.deadline().elapsed(), call.deadline().timeout());
	}

	/** A call that may be over. */
	static CallPost remembered(String group, CallSignature call) {
		return new CallPost(group, call, Duration.ZERO, Duration.ZERO);
	}

}
