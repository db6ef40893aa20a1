package io.tutti.engine.backend.nccl;

import java.time.Duration;

import io.tutti.ExitCode;
import io.tutti.engine.spi.RankException;
import org.jspecify.annotations.Nullable;

/**
 * A communicator failed, was aborted or missed a deadline. Afterwards it cannot be used,
 * and buffers of calls in progress are undefined; but it stays usable if memory could not
 * be allocated, registered or released. The rank is that in the communicator, which is a
 * group of its own.
 */
public final class NcclException extends RankException implements ExitCode.Source {

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

	private NcclException(RankPlacement place, Reason reason, NcclResult result, String problem,
			@Nullable Throwable cause) {
		super(place.rank(), place.worldSize(), problem, cause);
		this.reason = reason;
		this.result = result;
	}

	/** NCCL returned an error; the message includes NCCL's last error text. */
	static NcclException error(RankPlacement place, String call, NcclResult result, String lastError) {
		String detail = lastError.isBlank() ? "" : ": " + lastError.strip();
		return new NcclException(place, Reason.ERROR, result, call + ": " + result + detail + ". " + result.hint(),
				null);
	}

	/** Not all ranks made the call in time. */
	static NcclException timeout(RankPlacement place, String call, Duration timeout) {
		return new NcclException(place, Reason.TIMEOUT, NcclResult.IN_PROGRESS,
				call + " was not done within " + timeout.toMillis()
						+ " ms, so the communicator was aborted. Check the ranks that have not made this call",
				null);
	}

	/** The communicator was aborted during or before the call. */
	static NcclException aborted(RankPlacement place, String call) {
		return new NcclException(place, Reason.ABORTED, NcclResult.IN_PROGRESS,
				call + ": the communicator was aborted. Create a new one", null);
	}

	/** The calling thread was interrupted during the call. */
	static NcclException interrupted(RankPlacement place, String call) {
		return new NcclException(place, Reason.ABORTED, NcclResult.IN_PROGRESS,
				call + ": the calling thread was interrupted, so the communicator was aborted",
				new InterruptedException());
	}

	/** A call on a communicator that has already failed. */
	static NcclException after(NcclException earlier, RankPlacement place, String call) {
		return new NcclException(place, earlier.reason, earlier.result,
				call + ": the communicator had failed before: " + earlier.problem(), earlier);
	}

	/**
	 * {@link ExitCode#DEADLINE_PASSED} after a missed deadline,
	 * {@link ExitCode#PEER_LOST} after an abort or the failure of another rank, otherwise
	 * {@link ExitCode#INTERNAL}.
	 */
	@Override
	public int exitCode() {
		return switch (this.reason) {
			case TIMEOUT -> ExitCode.DEADLINE_PASSED;
			case ABORTED -> ExitCode.PEER_LOST;
			case ERROR -> (this.result == NcclResult.REMOTE_ERROR) ? ExitCode.PEER_LOST : ExitCode.INTERNAL;
		};
	}

	/**
	 * {@return why the communicator failed}
	 */
	public Reason reason() {
		return this.reason;
	}

	/**
	 * {@return NCCL's result; {@link NcclResult#IN_PROGRESS} if NCCL returned no error}
	 */
	public NcclResult result() {
		return this.result;
	}

}
