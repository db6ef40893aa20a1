package io.tutti.engine.bootstrap;

import java.util.List;

import io.tutti.engine.RankAssignment;
import io.tutti.engine.bootstrap.Endpoint.NameService;
import io.tutti.engine.control.ControlListener;
import io.tutti.engine.control.ControlMessage.Roster;
import io.tutti.engine.control.ControlPlane;
import io.tutti.engine.control.Membership;
import io.tutti.engine.control.PeerAddress;
import io.tutti.engine.control.RendezvousSettings;
import io.tutti.engine.spi.Deadline;
import org.jspecify.annotations.Nullable;

/**
 * What a rank joins with.
 *
 * @param assignment this rank and the rendezvous address
 * @param settings the other settings
 * @param events receives events from rendezvous on, may throw
 * @param deadline the time by which all ranks must have joined
 * @param names resolves the rendezvous address
 */
record JoinRequest(RankAssignment assignment, RendezvousSettings settings, ControlListener events, Deadline deadline,
		NameService names) {

	/**
	 * A hello must fit into the frame size of unauthenticated clients. Twice as long as a
	 * job's own id may be, since an elastic group appends the id of its formation.
	 */
	private static final int MAX_NAME_CHARACTERS = 512;

	JoinRequest {
		events = ControlListener.guarded(events);
		requireShort("job id", settings.jobId());
		requireShort("advertised host", settings.advertisedHost());
		String token = settings.token();
		if (token != null && token.isBlank()) {
			throw new IllegalArgumentException("a token must not be blank; leave it out to have none");
		}
		if (settings.generation() < JoinPolicy.ANY_GENERATION) {
			throw new IllegalArgumentException("generation must be at least -1, got " + settings.generation());
		}
	}

	/** The generation that rank 0 chooses. */
	long generation() {
		return Math.max(0, this.settings.generation());
	}

	/** Where this rank accepts data connections, at the given host. */
	PeerAddress address(String host) {
		return new PeerAddress(this.assignment.rank(), host, this.settings.dataPort(), HostIdentity.ofThisHost());
	}

	/** Rank 0's roster of these ranks, with a new session key. */
	Roster roster(List<PeerAddress> peers) {
		return new Roster(generation(), Handshake.nonce(), this.settings.sharedConfig(), peers);
	}

	/** The membership of this rank, which has the roster. */
	Membership membership(Roster roster, ControlPlane control) {
		return new Membership(this.assignment, roster.generation(), roster.peers(),
				Handshake.ofControl(this.settings.token()).session(roster.keyNonce()), roster.sharedConfig(), control);
	}

	private static void requireShort(String name, @Nullable String text) {
		if (text != null && (text.isBlank() || text.length() > MAX_NAME_CHARACTERS)) {
			throw new IllegalArgumentException(name + " must have 1.." + MAX_NAME_CHARACTERS
					+ " characters and not be blank, got " + text.length());
		}
	}

}
