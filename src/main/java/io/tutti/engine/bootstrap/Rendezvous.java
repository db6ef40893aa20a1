package io.tutti.engine.bootstrap;

import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;

import io.tutti.engine.Deadline;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.control.ControlListener;
import io.tutti.engine.control.ControlPlane;
import io.tutti.engine.control.Membership;
import io.tutti.engine.control.PeerAddress;
import io.tutti.engine.control.RendezvousException;
import io.tutti.engine.control.RendezvousSettings;
import io.tutti.engine.control.SessionKey;
import io.tutti.engine.control.simulated.SimulatedControl;
import org.jspecify.annotations.Nullable;

/**
 * Where ranks find each other. Rank 0 listens at the meeting point, every other rank
 * knocks there until it is let in or refused, and when all have come each knows where all
 * the others are. The connections to rank 0 stay open as the control plane.
 */
public final class Rendezvous {

	/** So that a hello always fits into what an unproved caller may send. */
	private static final int MAX_NAME_CHARACTERS = 256;

	private Rendezvous() {
	}

	/**
	 * Meets the other ranks; a rank alone in its world opens no port. May return on one
	 * rank before it does on another; one that is lost in between is reported to
	 * {@code events}, as any is later.
	 * @param assignment who this rank is and where the ranks meet
	 * @param settings what else it brings
	 * @param events what the control plane tells this process, from the first moment on
	 * @param deadline by when all must have come
	 * @return what this rank holds now; its control plane must be closed
	 * @throws RendezvousException if the ranks do not meet or this one is refused
	 * @throws IllegalArgumentException if a setting is out of range
	 */
	public static Membership meet(RankAssignment assignment, RendezvousSettings settings, ControlListener events,
			Deadline deadline) {
		return meet(assignment, settings, events, deadline, NameService.SYSTEM);
	}

	/** As above, with a name service to ask for the meeting point. */
	static Membership meet(RankAssignment assignment, RendezvousSettings settings, ControlListener events,
			Deadline deadline, NameService names) {
		check(settings);
		if (assignment.worldSize() == 1) {
			return alone(assignment, settings, events);
		}
		if (assignment.rank() == 0) {
			return new RendezvousServer(assignment, settings, deadline, names).meet(events);
		}
		return new RendezvousClient(assignment, settings, events, deadline, names).meet();
	}

	private static Membership alone(RankAssignment assignment, RendezvousSettings settings, ControlListener events) {
		String chosen = settings.advertisedHost();
		List<PeerAddress> roster = List.of(new PeerAddress(0, (chosen != null) ? chosen : assignment.masterAddress(),
				settings.dataPort(), HostIdentity.ofThisHost()));
		byte[] secret = new byte[SessionKey.PROOF_BYTES];
		new SecureRandom().nextBytes(secret);
		ControlPlane control = new SimulatedControl("tutti-r0-control", roster).join(0, events);
		return new Membership(assignment, Math.max(0, settings.generation()), roster, new SessionKey(secret),
				settings.conduct(), control);
	}

	private static void check(RendezvousSettings settings) {
		requireShort("job id", settings.jobId());
		requireShort("advertised host", settings.advertisedHost());
		requirePositive("heartbeat", settings.heartbeat());
		requirePositive("verdict", settings.verdict());
		String token = settings.token();
		if (token != null && token.isBlank()) {
			throw new IllegalArgumentException("a token must not be blank; leave it out to have none");
		}
		if (settings.generation() < JoinPolicy.ANY_GENERATION) {
			throw new IllegalArgumentException("generation must be at least -1, got " + settings.generation());
		}
	}

	private static void requireShort(String name, @Nullable String text) {
		if (text != null && (text.isBlank() || text.length() > MAX_NAME_CHARACTERS)) {
			throw new IllegalArgumentException(name + " must have 1.." + MAX_NAME_CHARACTERS
					+ " characters and not be blank, got " + text.length());
		}
	}

	private static void requirePositive(String name, Duration duration) {
		if (duration.isZero() || duration.isNegative()) {
			throw new IllegalArgumentException(name + " must be more than zero, got " + duration);
		}
	}

}
