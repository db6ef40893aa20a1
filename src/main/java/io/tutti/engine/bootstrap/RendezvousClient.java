package io.tutti.engine.bootstrap;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ClosedByInterruptException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.tutti.engine.RankAssignment;
import io.tutti.engine.control.ControlConnection;
import io.tutti.engine.control.ControlMessage.Awaiting;
import io.tutti.engine.control.ControlMessage.Hello;
import io.tutti.engine.control.ControlMessage.Roster;
import io.tutti.engine.control.Membership;
import io.tutti.engine.control.RendezvousSettings;
import io.tutti.engine.spi.CleanUp;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.tls.HandshakeDeadline;
import io.tutti.engine.tls.TlsException;
import org.jspecify.annotations.Nullable;

/**
 * The rendezvous of ranks other than 0: connects until rank 0 answers, then waits until
 * all ranks have joined. Starts again if rank 0 is lost meanwhile.
 */
final class RendezvousClient {

	private final JoinRequest request;

	private final Endpoint point;

	private final RendezvousFailure failure;

	private final ConnectAttempts attempts = new ConnectAttempts();

	private final WaitLogger waitLogger;

	RendezvousClient(JoinRequest request) {
		RankAssignment assignment = request.assignment();
		this.request = request;
		this.point = new Endpoint(assignment.masterAddress(), assignment.masterPort());
		this.failure = new RendezvousFailure(request, this.point);
		this.waitLogger = new WaitLogger(request);
	}

	Membership join() {
		try {
			do {
				try {
					return await(connect());
				}
				catch (IOException ex) {
					this.attempts.failed(ex);
					if (ex instanceof ClosedByInterruptException) {
						continue;
					}
					this.waitLogger
						.log(() -> "still connects to rank 0 at " + this.point + " (" + CleanUp.message(ex) + ")");
				}
			}
			while (this.attempts.pause(this.request.deadline()));
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw this.failure.interrupted(this.attempts, ex);
		}
		throw this.failure.unreachable(this.attempts);
	}

	private ControlConnection connect() throws IOException, InterruptedException {
		this.attempts.begin();
		IOException last = null;
		for (InetAddress address : this.point.resolve(this.request.names(), this.request.deadline())) {
			try {
				return connect(new InetSocketAddress(address, this.point.port()));
			}
			catch (TlsException ex) {
				throw this.failure.tls(ex);
			}
			catch (HandshakeException ex) {
				// Rank 0 has answered: no other address leads to it.
				throw this.failure.unlessRetried(ex);
			}
			catch (IOException ex) {
				last = ex;
			}
		}
		throw (last != null) ? last : new IOException(this.point.host() + " has no address");
	}

	private ControlConnection connect(InetSocketAddress address) throws IOException {
		Duration limit = Deadline.shorter(this.request.deadline().remaining(), ConnectionAcceptor.HANDSHAKE_LIMIT);
		RendezvousSettings settings = this.request.settings();
		return new ControlConnection(0, Handshake.ofControl(settings.token())
			.connect(address, settings.tls(), this::hello, HandshakeDeadline.within(limit)));
	}

	private Hello hello(InetSocketAddress local) {
		RankAssignment assignment = this.request.assignment();
		RendezvousSettings settings = this.request.settings();
		String chosen = settings.advertisedHost();
		return new Hello(settings.jobId(), settings.generation(), assignment.rank(), assignment.worldSize(),
				(chosen != null) ? chosen : Endpoint.text(local.getAddress()), chosen != null, settings.dataPort(),
				HostIdentity.ofThisHost());
	}

	private Membership await(ControlConnection connection) throws IOException, InterruptedException {
		ControlClient client = CleanUp.orElse(() -> new ControlClient(connection, this.request), connection::close);
		try {
			return this.request.membership(await(client.start(), client), client.control());
		}
		catch (ExecutionException ex) {
			client.control().close();
			giveUpWith(client.awaiting());
			throw new IOException(ex.getCause().getMessage(), ex.getCause());
		}
		catch (TimeoutException ex) {
			client.giveUp("its deadline has passed");
			Awaiting awaiting = client.awaiting();
			throw (awaiting != null) ? this.failure.timedOut(awaiting.absence())
					: this.failure.unreachable(this.attempts);
		}
		catch (InterruptedException ex) {
			client.control().close();
			throw ex;
		}
	}

	private Roster await(CompletableFuture<Roster> roster, ControlClient client)
			throws ExecutionException, InterruptedException, TimeoutException {
		while (true) {
			try {
				return roster.get(this.waitLogger.nanosUntilDue(), TimeUnit.NANOSECONDS);
			}
			catch (TimeoutException ex) {
				if (this.request.deadline().expired()) {
					throw ex;
				}
				Awaiting awaiting = client.awaiting();
				this.waitLogger.log(() -> "waits at " + this.point + " for "
						+ ((awaiting != null) ? awaiting.absence().describe() : "the other ranks"));
			}
		}
	}

	/** Rank 0 has given up: another attempt is of no use. */
	private void giveUpWith(@Nullable Awaiting awaiting) {
		if (awaiting != null && awaiting.over()) {
			throw this.failure.timedOut(awaiting.absence());
		}
	}

}
