package io.tutti.engine.bootstrap;

import java.time.Duration;
import java.util.List;

import io.tutti.engine.control.MissingRanks;
import io.tutti.engine.control.RendezvousException;
import io.tutti.engine.control.RendezvousException.Reason;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.tls.TlsException;
import org.jspecify.annotations.Nullable;

/**
 * Builds the errors of a failed rendezvous, each with the action to take.
 *
 * @param rank this rank
 * @param point the rendezvous address
 */
record RendezvousFailure(int rank, RendezvousAddress point) {

	private static final long EXACT_BELOW_MILLIS = 10_000;

	/** The deadline passed with some ranks missing. */
	RendezvousException timedOut(MissingRanks absence, Deadline deadline) {
		return failure(Reason.TIMEOUT,
				"not every rank came to " + this.point + " within " + seconds(deadline.elapsed()) + "; missing: "
						+ absence.describe() + ". Start the missing ranks, check that they can reach " + this.point
						+ ", or raise tutti.timeout.rendezvous",
				absence.missing(), null);
	}

	/** The deadline passed with rank 0 out of reach. */
	RendezvousException unreachable(Deadline deadline, ConnectAttempts attempts) {
		return failure(Reason.TIMEOUT,
				"rank 0 could not be reached at " + this.point + " within " + seconds(deadline.elapsed()) + " ("
						+ attempts.describe() + "). Check that rank 0 runs and that MASTER_ADDR and MASTER_PORT"
						+ " are the same on every rank, or raise tutti.timeout.rendezvous",
				List.of(0), attempts.cause());
	}

	/** Rank 0 rejects this rank permanently. */
	RendezvousException refused(Reason reason, String message) {
		return failure(reason, "refused at " + this.point + ": " + message, List.of(), null);
	}

	/** The peer is not rank 0 of this job. */
	RendezvousException wrongPeer(Reason reason, String detail, @Nullable Exception cause) {
		return failure(reason, "what answers at " + this.point + " is not this job's rank 0: " + detail
				+ ". Check MASTER_ADDR and MASTER_PORT", List.of(), cause);
	}

	/** The TLS handshake with the peer failed. */
	RendezvousException tls(TlsException cause) {
		String who = "rank " + this.rank + ": what answers at " + this.point + " ";
		String text = switch (cause.reason()) {
			case NOT_TLS -> who + "does not speak TLS, and this rank does. Give every rank the same tutti.tls.bundle,"
					+ " or none; check MASTER_ADDR and MASTER_PORT";
			case UNTRUSTED -> who + "is not to be trusted: " + cause.getMessage()
					+ ". Give every rank a certificate of the authority that tutti.tls.bundle trusts,"
					+ " with the name tutti.tls.peer-name; check MASTER_ADDR and MASTER_PORT";
			case REFUSED -> who + "did not accept this rank's certificate: " + cause.getMessage()
					+ ". Give this rank a valid certificate of the authority that the others trust, for clients and"
					+ " servers; rank 0's log says more";
		};
		return new RendezvousException(Reason.AUTHENTICATION, text, List.of(), cause);
	}

	/** Rank 0 cannot listen. */
	RendezvousException address(String detail, String advice, @Nullable Exception cause) {
		return failure(Reason.ADDRESS, "cannot listen at " + this.point + ": " + detail + ". " + advice, List.of(),
				cause);
	}

	/** The waiting thread was interrupted. */
	RendezvousException interrupted(Deadline deadline, @Nullable Exception cause) {
		return failure(Reason.TIMEOUT,
				"interrupted after " + seconds(deadline.elapsed()) + " of waiting for the others at " + this.point,
				List.of(), cause);
	}

	/** An exception's message, or its class name if it has none. */
	static String words(Exception ex) {
		String message = ex.getMessage();
		return (message != null) ? message : ex.getClass().getSimpleName();
	}

	private RendezvousException failure(Reason reason, String text, List<Integer> missing, @Nullable Exception cause) {
		return new RendezvousException(reason, "rank " + this.rank + ": " + text, missing, cause);
	}

	/** A time in seconds, or in milliseconds where it is short. */
	static String seconds(Duration duration) {
		long millis = duration.toMillis();
		return (millis < EXACT_BELOW_MILLIS) ? millis + " ms" : millis / 1000 + " s";
	}

}
