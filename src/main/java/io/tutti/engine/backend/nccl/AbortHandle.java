package io.tutti.engine.backend.nccl;

/**
 * Ends a communicator from any thread, also while a call on another thread is stuck in
 * it. Harmless once the communicator is closed or aborted.
 */
public final class AbortHandle {

	private final Communicator communicator;

	AbortHandle(Communicator communicator) {
		this.communicator = communicator;
	}

	/**
	 * Aborts: whatever is stuck on the device or in a call is freed, here and, as their
	 * connections fail, on the other ranks. Only the first call has an effect.
	 */
	public void abort() {
		this.communicator.abort();
	}

	/** Whether the communicator was aborted; one that was closed was not. */
	public boolean isAborted() {
		return this.communicator.state() == Communicator.State.ABORTED;
	}

}
