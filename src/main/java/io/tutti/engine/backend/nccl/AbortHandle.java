package io.tutti.engine.backend.nccl;

/**
 * Aborts a communicator from any thread, also while a call on another thread is stuck in
 * it. Has no effect once the communicator is closed or aborted.
 */
public final class AbortHandle {

	private final NcclCommunicator communicator;

	AbortHandle(NcclCommunicator communicator) {
		this.communicator = communicator;
	}

	/**
	 * Aborts the communicator. Stuck kernels and calls end on this rank, and on other
	 * ranks as their connections fail. Only the first call has an effect.
	 */
	public void abort() {
		this.communicator.abort();
	}

	/**
	 * {@return whether the communicator has ended, by an abort or by a close}
	 */
	public boolean isAborted() {
		return switch (this.communicator.state()) {
			case OPEN, FAILED, CLOSING -> false;
			case CLOSED, ABORTED, TRANSFERRED -> true;
		};
	}

}
