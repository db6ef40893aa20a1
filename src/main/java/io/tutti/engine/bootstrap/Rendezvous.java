package io.tutti.engine.bootstrap;

import java.time.Duration;
import java.util.List;

import io.tutti.engine.RankAssignment;
import io.tutti.engine.bootstrap.RendezvousAddress.NameService;
import io.tutti.engine.control.ControlListener;
import io.tutti.engine.control.ControlMessage.Roster;
import io.tutti.engine.control.ControlPlane;
import io.tutti.engine.control.Membership;
import io.tutti.engine.control.PeerAddress;
import io.tutti.engine.control.RendezvousException;
import io.tutti.engine.control.RendezvousSettings;
import io.tutti.engine.control.simulated.SimulatedControl;
import io.tutti.engine.spi.Deadline;
import org.jspecify.annotations.Nullable;

/**
 * Forms the group of all ranks. Rank 0 listens at the rendezvous address, and every other
 * rank connects until it joins or is rejected. When all ranks have joined, each knows the
 * addresses of all. The connections to rank 0 stay open as the control plane.
 */
public final class Rendezvous {

	/** A hello must fit into the frame size of unauthenticated clients. */
	private static final int MAX_NAME_CHARACTERS = 256;

	private Rendezvous() {
	}

	/**
	 * Joins the other ranks. A rank alone in its world opens no port. May return on one
	 * rank before it does on another; a rank that is lost in between is reported to
	 * {@code events}, as later ones are.
	 * @param assignment this rank and the rendezvous address
	 * @param settings the other settings
	 * @param events receives events from rendezvous on
	 * @param deadline the time by which all ranks must have joined
	 * @return the membership, whose control plane must be closed
	 * @throws RendezvousException if not all ranks join or this one is rejected
	 * @throws IllegalArgumentException if a setting is out of range
	 */
	public static Membership join(RankAssignment assignment, RendezvousSettings settings, ControlListener events,
			Deadline deadline) {
		return join(assignment, settings, events, deadline, NameService.SYSTEM);
	}

	/** As above, with a resolver for the rendezvous address. */
	static Membership join(RankAssignment assignment, RendezvousSettings settings, ControlListener events,
			Deadline deadline, NameService names) {
		check(settings);
		if (assignment.worldSize() == 1) {
			return alone(assignment, settings, events);
		}
		if (assignment.rank() == 0) {
			return new RendezvousServer(assignment, settings, events, deadline, names).join();
		}
		return new RendezvousClient(assignment, settings, events, deadline, names).join();
	}

	private static Membership alone(RankAssignment assignment, RendezvousSettings settings, ControlListener events) {
		String chosen = settings.advertisedHost();
		List<PeerAddress> roster = List.of(new PeerAddress(0, (chosen != null) ? chosen : assignment.masterAddress(),
				settings.dataPort(), HostIdentity.ofThisHost()));
		ControlPlane control = new SimulatedControl("tutti-r0-control", roster).join(0, events);
		return membership(assignment, settings,
				new Roster(Math.max(0, settings.generation()), Handshake.nonce(), settings.sharedConfig(), roster),
				control);
	}

	/** The membership of a rank that has the roster. */
	static Membership membership(RankAssignment assignment, RendezvousSettings settings, Roster roster,
			ControlPlane control) {
		return new Membership(assignment, roster.generation(), roster.peers(),
				Handshake.ofControl(settings.token()).session(roster.keyNonce()), roster.sharedConfig(), control);
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
