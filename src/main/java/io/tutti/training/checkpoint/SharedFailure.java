package io.tutti.training.checkpoint;

import java.util.List;

import io.tutti.CollectiveException;
import io.tutti.ProcessGroup;
import io.tutti.training.internal.TextGather;

/**
 * Fails on every rank if a rank's own work fails, so that the others do not wait for it
 * in the next collective call.
 */
final class SharedFailure {

	/** Enough for a cause and an action. */
	private static final int MAX_CHARS = 4096;

	private SharedFailure() {
	}

	/**
	 * Runs this rank's work, which makes no collective call. A collective call.
	 * @throws CheckpointException on every rank, if a rank's work failed; the group stays
	 * usable
	 */
	static void run(ProcessGroup group, Runnable work) {
		Throwable own = null;
		try {
			work.run();
		}
		catch (CollectiveException ex) {
			throw ex;
		}
		catch (RuntimeException | OutOfMemoryError ex) {
			own = ex;
		}
		List<String> failures = TextGather.allGather(group, (own != null) ? text(own) : "");
		for (int rank = 0; rank < failures.size(); rank++) {
			if (!failures.get(rank).isEmpty()) {
				throw CheckpointException.onEveryRank("rank " + rank + " failed: " + failures.get(rank), own);
			}
		}
	}

	private static String text(Throwable failure) {
		String text = (failure instanceof CheckpointException) ? String.valueOf(failure.getMessage())
				: failure.toString();
		return text.substring(0, Math.min(MAX_CHARS, text.length()));
	}

}
