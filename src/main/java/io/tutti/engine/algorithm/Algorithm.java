package io.tutti.engine.algorithm;

import io.tutti.engine.spi.Call;

/**
 * An implementation of one collective. An instance belongs to one group and runs on one
 * thread at a time, so it may keep its cursors between calls.
 */
@FunctionalInterface
public interface Algorithm {

	/**
	 * Runs the call, which the transport has begun.
	 * @throws io.tutti.CollectiveException if the call fails
	 */
	void run(Call call);

}
