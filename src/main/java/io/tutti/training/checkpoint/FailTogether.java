package io.tutti.training.checkpoint;

import java.util.List;

import io.tutti.CollectiveException;
import io.tutti.ExitCode;
import io.tutti.ProcessGroup;
import io.tutti.training.internal.TextGather;

/**
 * Fails on every rank if a rank's own work fails, so that the others do not wait for it
 * in the next collective call.
 */
final class FailTogether {

	/** Enough for a cause and an action. */
	private static final int MAX_CHARS = 4096;

	/** The failure of a rank. */
	private record Failure(int exitCode, String text) {

		static Failure of(Throwable failure) {
			String text = (failure instanceof CheckpointException) ? String.valueOf(failure.getMessage())
					: failure.toString();
			return new Failure(ExitCode.of(failure), text.substring(0, Math.min(MAX_CHARS, text.length())));
		}

	}

	private FailTogether() {
	}

	/**
	 * Runs this rank's work. Its collective calls are the same whether it fails or not. A
	 * collective call.
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
		catch (RuntimeException | Error ex) {
			own = ex;
		}
		List<String> failures = TextGather.allGather(group,
				(own != null) ? SafetensorsFormat.MAPPER.writeValueAsString(Failure.of(own)) : "");
		for (int rank = 0; rank < failures.size(); rank++) {
			if (!failures.get(rank).isEmpty()) {
				Failure failure = SafetensorsFormat.MAPPER.readValue(failures.get(rank), Failure.class);
				throw CheckpointException.onEveryRank(failure.exitCode(), "rank " + rank + " failed: " + failure.text(),
						own);
			}
		}
	}

}
