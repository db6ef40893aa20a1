package io.tutti.engine.bootstrap;

import java.util.List;

import io.tutti.engine.RankAssignment;
import io.tutti.engine.bootstrap.Endpoint.NameService;
import io.tutti.engine.control.ControlListener;
import io.tutti.engine.control.ControlMessage.Roster;
import io.tutti.engine.control.Membership;
import io.tutti.engine.control.RendezvousException;
import io.tutti.engine.control.RendezvousSettings;
import io.tutti.engine.control.simulated.SimulatedControl;
import io.tutti.engine.spi.Deadline;

/**
 * Forms the group of all ranks. Rank 0 listens at the rendezvous address, and every other
 * rank connects until it joins or is rejected. When all ranks have joined, each knows the
 * addresses of all. The connections to rank 0 stay open as the control plane.
 */
public final class Rendezvous {

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
		JoinRequest request = new JoinRequest(assignment, settings, events, deadline, names);
		if (assignment.worldSize() == 1) {
			return alone(request);
		}
		return (assignment.rank() == 0) ? new RendezvousServer(request).join() : new RendezvousClient(request).join();
	}

	private static Membership alone(JoinRequest request) {
		RendezvousSettings settings = request.settings();
		String chosen = settings.advertisedHost();
		Roster roster = request
			.roster(List.of(request.address((chosen != null) ? chosen : request.assignment().masterAddress())));
		return request.membership(roster,
				new SimulatedControl("tutti-r0-control", roster.peers()).join(0, request.events()));
	}

}
