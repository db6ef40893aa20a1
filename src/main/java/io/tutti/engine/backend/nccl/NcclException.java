package io.tutti.engine.backend.nccl;

import java.time.Duration;

/**
 * A communicator failed, was aborted or missed a deadline. Afterwards it cannot be used,
 * and buffers of calls in progress are undefined.
 */
public final class NcclException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	/** Why a communicator failed. */
	public enum Reason {

		/** NCCL returned an error. */
		ERROR,
		/** A deadline passed, and the communicator was aborted. */
		TIMEOUT,
		/** The communicator was aborted. */
		ABORTED

	}

	private final Reason reason;

	private final NcclResult result;

	private NcclException(Reason reason, NcclResult result, String message) {
		super(message);
		this.reason = reason;
		this.result = result;
	}

	/** NCCL returned an error; the message includes NCCL's last error text. */
	static NcclException error(int rank, String call, NcclResult result, String lastError) {
		String detail = lastError.isBlank() ? "" : ": " + lastError.strip();
		return new NcclException(Reason.ERROR, result,
				"rank " + rank + ": " + call + ": " + result + detail + ". " + result.hint());
	}

	/** Not all ranks made the call in time. */
	static NcclException timeout(int rank, String call, Duration timeout) {
		return new NcclException(Reason.TIMEOUT, NcclResult.IN_PROGRESS,
				"rank " + rank + ": " + call + " was not done within " + timeout.toMillis()
						+ " ms, so the communicator was aborted. Check the ranks that have not made this call");
	}

	/** The communicator was aborted during or before the call. */
	static NcclException aborted(int rank, String call) {
		return new NcclException(Reason.ABORTED, NcclResult.IN_PROGRESS,
				"rank " + rank + ": " + call + ": the communicator was aborted. Create a new one");
	}

	/** A call on a communicator that has already failed. */
	static NcclException after(NcclException earlier, int rank, String call) {
		NcclException failure = new NcclException(earlier.reason, earlier.result,
				"rank " + rank + ": " + call + ": the communicator had failed before: " + earlier.getMessage());
		failure.initCause(earlier);
		return failure;
	}

	/** Why the communicator failed. */
	public Reason reason() {
		return this.reason;
	}

	/** NCCL's result; {@link NcclResult#IN_PROGRESS} if NCCL returned no error. */
	public NcclResult result() {
		return this.result;
	}

}
