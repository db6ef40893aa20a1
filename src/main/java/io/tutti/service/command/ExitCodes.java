package io.tutti.service.command;

import io.tutti.BackendUnavailableException;
import io.tutti.CollectiveException;
import io.tutti.CollectiveMismatchException;
import io.tutti.CollectiveTimeoutException;
import io.tutti.GroupAbortedException;
import io.tutti.PeerLostException;
import io.tutti.engine.control.RendezvousException;
import io.tutti.launch.ExitCode;
import io.tutti.launch.ResolutionException;
import io.tutti.service.config.ConfigurationException;
import io.tutti.training.CheckpointException;
import io.tutti.training.MalformedDataException;
import io.tutti.training.ReplicaMismatchException;
import io.tutti.training.ReportException;
import io.tutti.training.TrainingDivergedException;
import org.jspecify.annotations.Nullable;

/**
 * Maps failures to exit codes. No other class does.
 */
final class ExitCodes {

	private ExitCodes() {
	}

	/** The code for a failure, or for the first of its causes that has one. */
	static int of(Throwable failure) {
		Throwable known = known(failure);
		return switch (known) {
			case CollectiveException ex -> of(ex);
			case RendezvousException ex -> of(ex.reason());
			case ReplicaMismatchException _ -> ExitCode.MISMATCH;
			case MalformedDataException _, TrainingDivergedException _ -> ExitCode.BAD_DATA;
			case ConfigurationException _, ResolutionException _, CheckpointException _, ReportException _,
					BackendUnavailableException _ ->
				ExitCode.BAD_CONFIGURATION;
			case null, default -> ExitCode.INTERNAL;
		};
	}

	/**
	 * The failure itself or the first of its causes that has an exit code of its own,
	 * {@code null} if none has.
	 */
	static @Nullable Throwable known(Throwable failure) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			switch (cause) {
				case CollectiveException _, RendezvousException _, ReplicaMismatchException _, ConfigurationException _,
						ResolutionException _, MalformedDataException _, CheckpointException _, ReportException _,
						TrainingDivergedException _, BackendUnavailableException _ -> {
					return cause;
				}
				default -> {
				}
			}
		}
		return null;
	}

	private static int of(CollectiveException failure) {
		return switch (failure) {
			case CollectiveTimeoutException _ -> ExitCode.DEADLINE_PASSED;
			case CollectiveMismatchException _ -> ExitCode.MISMATCH;
			case PeerLostException _ -> ExitCode.PEER_LOST;
			case GroupAbortedException _ -> ExitCode.ABORTED;
		};
	}

	private static int of(RendezvousException.Reason reason) {
		return switch (reason) {
			case TIMEOUT -> ExitCode.DEADLINE_PASSED;
			case AUTHENTICATION -> ExitCode.AUTHENTICATION_FAILED;
			case DUPLICATE_RANK, WORLD_SIZE, STALE_GENERATION, JOB, PROTOCOL -> ExitCode.MISMATCH;
			case ADDRESS -> ExitCode.BAD_CONFIGURATION;
		};
	}

}
