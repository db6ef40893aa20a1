package io.tutti.service.command;

import io.tutti.engine.CollectiveException;
import io.tutti.engine.CollectiveMismatchException;
import io.tutti.engine.CollectiveTimeoutException;
import io.tutti.engine.GroupAbortedException;
import io.tutti.engine.PeerLostException;
import io.tutti.engine.rendezvous.RendezvousException;
import io.tutti.launch.ResolutionException;
import io.tutti.service.config.ConfigurationException;
import io.tutti.training.CheckpointException;
import io.tutti.training.MalformedDataException;
import io.tutti.training.ReplicaMismatchException;
import io.tutti.training.ReportException;
import io.tutti.training.TrainingDivergedException;
import org.jspecify.annotations.Nullable;

/**
 * What the exit code of a rank means, decided here alone.
 */
final class ExitCodes {

	static final int DONE = 0;

	static final int BAD_CONFIGURATION = 64;

	static final int INTERNAL = 70;

	static final int DEADLINE_PASSED = 75;

	static final int PEER_LOST = 76;

	static final int AUTHENTICATION_FAILED = 77;

	static final int MISMATCH = 78;

	static final int STOPPED_ON_REQUEST = 79;

	static final int ABORTED = 80;

	private ExitCodes() {
	}

	/** The code for a failure, or for the first of its causes that has one. */
	static int of(Throwable failure) {
		Throwable known = known(failure);
		return switch (known) {
			case CollectiveException ex -> of(ex);
			case RendezvousException ex -> of(ex.reason());
			case ReplicaMismatchException _ -> MISMATCH;
			case ConfigurationException _, ResolutionException _, MalformedDataException _, CheckpointException _,
					ReportException _, TrainingDivergedException _ ->
				BAD_CONFIGURATION;
			case null, default -> INTERNAL;
		};
	}

	/**
	 * The failure itself or the first of its causes that has a meaning of its own,
	 * {@code null} if none has.
	 */
	static @Nullable Throwable known(Throwable failure) {
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			switch (cause) {
				case CollectiveException _, RendezvousException _, ReplicaMismatchException _, ConfigurationException _,
						ResolutionException _, MalformedDataException _, CheckpointException _, ReportException _,
						TrainingDivergedException _ -> {
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
			case CollectiveTimeoutException _ -> DEADLINE_PASSED;
			case CollectiveMismatchException _ -> MISMATCH;
			case PeerLostException _ -> PEER_LOST;
			case GroupAbortedException _ -> ABORTED;
		};
	}

	private static int of(RendezvousException.Reason reason) {
		return switch (reason) {
			case TIMEOUT -> DEADLINE_PASSED;
			case AUTHENTICATION -> AUTHENTICATION_FAILED;
			case DUPLICATE_RANK, WORLD_SIZE, STALE_GENERATION, JOB, PROTOCOL -> MISMATCH;
			case ADDRESS -> BAD_CONFIGURATION;
		};
	}

}
