package io.tutti.engine;

/**
 * Hears of a call that does not come forward.
 */
interface CallWatch {

	/** The call has waited long; told once per call, on the thread that waits. */
	void waited(Call call);

}
