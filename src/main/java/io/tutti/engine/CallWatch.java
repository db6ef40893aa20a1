package io.tutti.engine;

/**
 * Hears of a call that does not come forward, or cannot.
 */
interface CallWatch {

	/** Does not care. */
	CallWatch NOBODY = new CallWatch() {
		@Override
		public void waited(Call call) {
		}

		@Override
		public void disputed(Call call) {
		}
	};

	/** The call has waited long; told once per call, on the thread that waits. */
	void waited(Call call);

	/**
	 * Ranks in this call have called different things before; told on a rank's thread.
	 */
	void disputed(Call call);

}
