package io.tutti.engine.backend;

import java.io.IOException;
import java.io.UncheckedIOException;

import io.tutti.engine.CollectiveListener;
import io.tutti.engine.FailureLatch;
import io.tutti.engine.GroupFactory;
import io.tutti.engine.GroupIdentity;
import io.tutti.engine.PointToPoint;
import io.tutti.engine.ProcessGroup;
import io.tutti.engine.Settlement;
import io.tutti.engine.Timeouts;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.rendezvous.Membership;
import io.tutti.engine.transport.Transport;
import io.tutti.engine.transport.message.Messenger;
import io.tutti.engine.transport.tcp.DataListener;
import io.tutti.engine.transport.tcp.TcpSettings;
import io.tutti.engine.transport.tcp.TcpTransport;
import io.tutti.engine.transport.tcp.TcpWires;

/**
 * Makes one rank's groups over TCP, each with connections of its own.
 */
record TcpGroups(Membership membership, DataListener listener, TcpSettings settings, GroupRegistry registry,
		CollectiveListener events, Timeouts timeouts) implements GroupFactory {

	/**
	 * Forms a group whose latch the registry knows.
	 * @throws UncheckedIOException if the system refuses what it takes
	 */
	ProcessGroup form(GroupIdentity identity, FailureLatch latch) {
		ProcessGroup group = new ProcessGroup(identity,
				new TransportBackend(identity, transport(identity, latch), ReductionKernels.get()), latch,
				this.membership.control(), this.timeouts, this);
		this.registry.ready(group);
		return group;
	}

	private Transport transport(GroupIdentity identity, FailureLatch latch) {
		try {
			return new TcpTransport(identity, latch, this.membership.roster(), this.listener,
					this.membership.sessionKey(), this.settings, this.events);
		}
		catch (IOException ex) {
			throw new UncheckedIOException("group " + identity.name() + " could not be set up", ex);
		}
	}

	@Override
	public ProcessGroup group(GroupIdentity identity) {
		FailureLatch latch = new FailureLatch();
		this.registry.add(identity, latch);
		return form(identity, latch);
	}

	@Override
	public PointToPoint pointToPoint(GroupIdentity identity, FailureLatch latch, Settlement settlement) {
		try {
			return new Messenger(identity, latch, settlement, new TcpWires(identity, this.membership.roster(),
					this.listener, this.membership.sessionKey(), this.settings, this.events), this.settings.crowded());
		}
		catch (IOException ex) {
			throw new UncheckedIOException("messages of group " + identity.name() + " could not be set up", ex);
		}
	}

	@Override
	public void closed(ProcessGroup group) {
		this.registry.remove(group);
	}

}
