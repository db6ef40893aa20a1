package io.tutti.engine.spi;

import java.time.Duration;

import io.tutti.Collective;
import io.tutti.DataType;

/**
 * A call as a group issues it, for tests of backends.
 */
public final class IssuedCall {

	private IssuedCall() {
	}

	/** A group's first barrier, whose deadline starts now. */
	public static Call barrier(int worldSize, Duration timeout) {
		Call call = Call.forParts(worldSize);
		call.describe(0, Collective.BARRIER, 0, DataType.INT8, null, 0);
		call.deadline().restart(System.nanoTime(), timeout.toNanos());
		return call;
	}

}
