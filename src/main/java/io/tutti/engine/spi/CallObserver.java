package io.tutti.engine.spi;

/**
 * Receives a backend's observations about a running call.
 */
public interface CallObserver {

	/**
	 * The call has waited long for other ranks. Called once per call, on the thread that
	 * waits.
	 */
	void waited(Call call);

	/** Earlier calls of the ranks in this call differ. Called on a rank's thread. */
	void disputed(Call call);

}
