package io.tutti.engine.bootstrap;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.ServerSocketChannel;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.tutti.engine.RankAssignment;
import io.tutti.engine.control.ControlMessage.Roster;
import io.tutti.engine.control.Membership;
import io.tutti.engine.control.RendezvousException;
import io.tutti.engine.spi.CleanUp;
import io.tutti.engine.spi.Deadline;

/**
 * The rendezvous of rank 0: listens and waits until all ranks have joined.
 */
final class RendezvousServer {

	/** The control thread ends the rendezvous at its deadline, unless it has died. */
	private static final long SLACK_SECONDS = 5;

	private final JoinRequest request;

	private final Endpoint listenAt;

	private final RendezvousFailure failure;

	RendezvousServer(JoinRequest request) {
		this.request = request;
		String bind = request.settings().bindAddress();
		this.listenAt = new Endpoint((bind != null) ? bind : request.assignment().masterAddress(),
				request.assignment().masterPort());
		this.failure = new RendezvousFailure(request, this.listenAt);
	}

	Membership join() {
		try {
			return await(open());
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw this.failure.interrupted(null, ex);
		}
	}

	private ControlServer open() throws InterruptedException {
		WaitLogger waitLogger = new WaitLogger(this.request);
		EndpointListener endpoint = new EndpointListener(this.listenAt, this.request.names(), this.request.deadline());
		RankAssignment assignment = this.request.assignment();
		try {
			ServerSocketChannel listener = endpoint.open((what) -> waitLogger.log(() -> what));
			ControlServer server = CleanUp.orElse(() -> new ControlServer(listener, this.request, this.failure),
					listener::close);
			if (assignment.localWorldSize() < assignment.worldSize()) {
				endpoint.warnOfLoopback(0, listener, this.request.events()::warn);
			}
			return server;
		}
		catch (ListenException ex) {
			throw this.failure.listen(ex);
		}
		catch (IOException ex) {
			throw new UncheckedIOException("rank 0 cannot start its control thread", ex);
		}
	}

	private Membership await(ControlServer server) throws InterruptedException {
		boolean joined = false;
		try {
			Roster roster = server.start()
				.get(Deadline.nanosOf(this.request.deadline().remaining().plusSeconds(SLACK_SECONDS)),
						TimeUnit.NANOSECONDS);
			joined = true;
			return this.request.membership(roster, server.control());
		}
		catch (ExecutionException | TimeoutException ex) {
			throw (ex.getCause() instanceof RendezvousException failed) ? failed
					: new IllegalStateException("rank 0: the rendezvous failed", ex);
		}
		finally {
			if (!joined) {
				server.control().close();
			}
		}
	}

}
