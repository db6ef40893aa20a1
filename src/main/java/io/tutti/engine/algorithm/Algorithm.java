package io.tutti.engine.algorithm;

import io.tutti.engine.Call;

/**
 * One way to carry out one collective. Belongs to one group and is run by one thread at a
 * time, so it may keep its cursors from call to call.
 */
public interface Algorithm {

	/**
	 * Carries the call out; the transport has begun it.
	 * @throws io.tutti.engine.CollectiveException if it failed
	 */
	void run(Call call);

}
