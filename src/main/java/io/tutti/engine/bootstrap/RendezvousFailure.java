package io.tutti.engine.bootstrap;

import java.time.Duration;
import java.util.List;

import io.tutti.engine.bootstrap.ListenException.Problem;
import io.tutti.engine.control.MissingRanks;
import io.tutti.engine.control.RendezvousException;
import io.tutti.engine.control.RendezvousException.Reason;
import io.tutti.engine.tls.TlsException;
import org.jspecify.annotations.Nullable;

/**
 * Builds the errors of a failed rendezvous, each with the action to take.
 *
 * @param request what this rank joins with
 * @param point the rendezvous address
 */
record RendezvousFailure(JoinRequest request, Endpoint point) {

	private static final long EXACT_BELOW_MILLIS = 10_000;

	/** The deadline passed with some ranks missing. */
	RendezvousException timedOut(MissingRanks absence) {
		return failure(Reason.TIMEOUT,
				"not every rank joined at " + this.point + " within " + seconds(this.request.deadline().elapsed())
						+ "; missing: " + absence.describe() + ". Start the missing ranks, check that they can reach "
						+ this.point + ", or raise tutti.timeout.rendezvous",
				absence.missing(), null);
	}

	/** The deadline passed with rank 0 out of reach. */
	RendezvousException unreachable(ConnectAttempts attempts) {
		return failure(Reason.TIMEOUT,
				"rank 0 could not be reached at " + this.point + " within " + seconds(this.request.deadline().elapsed())
						+ " (" + attempts.describe() + "). Check that rank 0 runs and that MASTER_ADDR and MASTER_PORT"
						+ " are the same on every rank, or raise tutti.timeout.rendezvous",
				List.of(0), attempts.cause());
	}

	/**
	 * Rank 0 rejects this rank, or the peer is not rank 0 of this job.
	 * @throws HandshakeException if another attempt may succeed
	 */
	RendezvousException unlessRetried(HandshakeException ex) throws HandshakeException {
		Reason reason = ex.reason();
		if (reason == null) {
			throw ex;
		}
		String text = ex.byPeer() ? "refused at " + this.point + ": " + ex.getMessage() : "the peer at " + this.point
				+ " is not this job's rank 0: " + ex.getMessage() + ". Check MASTER_ADDR and MASTER_PORT";
		return failure(reason, text, List.of(), ex);
	}

	/** The TLS handshake with the peer failed. */
	RendezvousException tls(TlsException cause) {
		String peer = "the peer at " + this.point + " ";
		return failure(Reason.AUTHENTICATION, switch (cause.reason()) {
			case NOT_TLS -> peer + "does not speak TLS, and this rank does. Give every rank the same tutti.tls.bundle,"
					+ " or none; check MASTER_ADDR and MASTER_PORT";
			case UNTRUSTED -> peer + "is not trusted: " + cause.getMessage()
					+ ". Give every rank a certificate of the authority that tutti.tls.bundle trusts,"
					+ " with the name tutti.tls.peer-name; check MASTER_ADDR and MASTER_PORT";
			case REFUSED -> peer + "did not accept this rank's certificate: " + cause.getMessage()
					+ ". Give this rank a valid certificate of the authority that the other ranks trust, for clients and"
					+ " servers; rank 0's log says more";
		}, List.of(), cause);
	}

	/** Rank 0 cannot listen. Only the name may be known later. */
	RendezvousException listen(ListenException cause) {
		Reason reason = (cause.problem() == Problem.NAME) ? Reason.TIMEOUT : Reason.ADDRESS;
		return failure(reason,
				"cannot listen at " + this.point + ": " + cause.getMessage() + ". " + switch (cause.problem()) {
					case NAME -> "Check MASTER_ADDR, or raise tutti.timeout.rendezvous";
					case ADDRESS ->
						"Run rank 0 on the host that MASTER_ADDR names, or set tutti.rendezvous.bind-address";
					case FAMILY -> "Set tutti.rendezvous.bind-address to an address of this host, or to 0.0.0.0";
					case PORT -> "Choose a free one by --master-port or MASTER_PORT";
				}, List.of(), cause);
	}

	/**
	 * The waiting thread was interrupted.
	 * @param attempts to reach rank 0, {@code null} at rank 0
	 */
	RendezvousException interrupted(@Nullable ConnectAttempts attempts, InterruptedException cause) {
		return failure(Reason.TIMEOUT,
				"interrupted after " + seconds(this.request.deadline().elapsed())
						+ " of waiting for the other ranks at " + this.point
						+ ((attempts != null && attempts.cause() != null) ? " (" + attempts.describe() + ")" : ""),
				List.of(), cause);
	}

	private RendezvousException failure(Reason reason, String text, List<Integer> missing, @Nullable Exception cause) {
		return new RendezvousException(this.request.assignment(), reason, text, missing, cause);
	}

	/** A time in seconds, or in milliseconds where it is short. */
	static String seconds(Duration duration) {
		long millis = duration.toMillis();
		return (millis < EXACT_BELOW_MILLIS) ? millis + " ms" : (millis + 500) / 1000 + " s";
	}

}
