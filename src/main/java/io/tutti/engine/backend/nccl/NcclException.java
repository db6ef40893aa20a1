package io.tutti.engine.backend.nccl;

import java.time.Duration;

/**
 * A communicator failed, was aborted or was not done in time. After any of these it
 * carries nothing any more, and buffers of calls that were under way are undefined.
 */
public final class NcclException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	/** Why a communicator failed. */
	public enum Reason {

		/** NCCL answered with an error. */
		ERROR,
		/** A deadline passed, and the communicator was aborted. */
		TIMEOUT,
		/** Somebody aborted the communicator. */
		ABORTED

	}

	private final Reason reason;

	private final NcclResult result;

	private NcclException(Reason reason, NcclResult result, String message) {
		super(message);
		this.reason = reason;
		this.result = result;
	}

	/** NCCL answered with an error; its own last words are part of the message. */
	static NcclException error(int rank, String call, NcclResult result, String lastError) {
		String words = lastError.isBlank() ? "" : ": " + lastError.strip();
		return new NcclException(Reason.ERROR, result,
				"rank " + rank + ": " + call + ": " + result + words + ". " + result.hint());
	}

	/** The ranks did not all come in time. */
	static NcclException timeout(int rank, String call, Duration timeout) {
		return new NcclException(Reason.TIMEOUT, NcclResult.IN_PROGRESS,
				"rank " + rank + ": " + call + " was not done within " + timeout.toMillis()
						+ " ms, so the communicator was aborted. Look at the ranks that have not made this call");
	}

	/** Somebody ended the communicator. */
	static NcclException aborted(int rank, String call) {
		return new NcclException(Reason.ABORTED, NcclResult.IN_PROGRESS,
				"rank " + rank + ": " + call + ": the communicator was aborted. Make a new one");
	}

	/** A call on a communicator that had failed before. */
	static NcclException after(NcclException earlier, int rank, String call) {
		NcclException failure = new NcclException(earlier.reason, earlier.result,
				"rank " + rank + ": " + call + ": the communicator had failed before: " + earlier.getMessage());
		failure.initCause(earlier);
		return failure;
	}

	/** Why. */
	public Reason reason() {
		return this.reason;
	}

	/** What NCCL answered; {@link NcclResult#IN_PROGRESS} where it was no error. */
	public NcclResult result() {
		return this.result;
	}

}
