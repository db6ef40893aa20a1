package io.tutti.engine.elastic;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;

import io.tutti.BackendUnavailableException;
import io.tutti.CollectiveListener;
import io.tutti.Failure;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.Engine;
import io.tutti.engine.elastic.FormationMessage.Formation;
import io.tutti.engine.elastic.FormationMessage.Member;
import org.jspecify.annotations.Nullable;

/**
 * The ordinary rendezvous of a formation that all of its members have accepted.
 */
final class FormationRendezvous {

	/**
	 * A group that has formed.
	 *
	 * @param announced to run when the listeners know the group: reports the failures
	 * since
	 */
	record Joined(Engine engine, Runnable announced) {
	}

	private static final Duration POLL = Duration.ofMillis(10);

	/** Time for an interrupted rendezvous to end. */
	private static final Duration CANCEL_LIMIT = Duration.ofSeconds(10);

	private final FormationContext context;

	private @Nullable Exception lastFailure;

	FormationRendezvous(FormationContext context) {
		this.context = context;
	}

	/** Why the last attempt has failed, {@code null} if none has. */
	@Nullable Exception lastFailure() {
		return this.lastFailure;
	}

	/**
	 * Runs the rendezvous until it ends or one of the members is lost.
	 * @param port where rank 0 listens
	 * @param trial whether the ranks then exchange data: their ports may be out of reach,
	 * which the rendezvous does not show
	 * @return {@code null} if the group has not formed
	 * @throws IllegalStateException if it cannot form at this host
	 */
	@Nullable Joined join(Formation formation, int port, boolean trial, BooleanSupplier lost) throws InterruptedException {
		CompletableFuture<Engine> joined = new CompletableFuture<>();
		AttemptListener listener = new AttemptListener(this.context.events());
		Thread attempt = Thread.ofPlatform()
			.name("tutti-r" + formation.members().indexOf(self()) + "-rendezvous")
			.daemon()
			.start(() -> {
				try {
					Engine engine = Engine.joinElastic(assignment(formation, port), this.context.settings()
						.withJob(this.context.settings().jobId() + "/" + formation.id(), formation.generation()),
							listener);
					if (trial) {
						exchange(engine);
					}
					joined.complete(engine);
				}
				catch (Throwable ex) {
					joined.completeExceptionally(ex);
				}
			});
		try {
			while (!attempt.join(POLL)) {
				if (lost.getAsBoolean()) {
					attempt.interrupt();
					attempt.join(CANCEL_LIMIT);
					break;
				}
			}
		}
		catch (InterruptedException ex) {
			attempt.interrupt();
			joined.thenAccept(Engine::close);
			throw ex;
		}
		return switch (joined.state()) {
			case SUCCESS -> new Joined(joined.resultNow(), listener::announced);
			case FAILED -> failed(joined.exceptionNow());
			case RUNNING, CANCELLED -> {
				joined.thenAccept(Engine::close);
				yield null;
			}
		};
	}

	/**
	 * Holds failures back until the listeners know the group: none breaks by an attempt
	 * that fails. Ranks that leave one start over and are not stopped.
	 */
	private static final class AttemptListener implements CollectiveListener {

		private final CollectiveListener events;

		private final List<Failure> held = new ArrayList<>();

		private boolean announced;

		AttemptListener(CollectiveListener events) {
			this.events = events;
		}

		synchronized void announced() {
			this.announced = true;
			this.held.forEach(this.events::broken);
		}

		@Override
		public synchronized void broken(Failure failure) {
			if (this.announced) {
				this.events.broken(failure);
			}
			else {
				this.held.add(failure);
			}
		}

		@Override
		public void note(String message) {
			this.events.note(message);
		}

		@Override
		public void warn(String message) {
			this.events.warn(message);
		}

	}

	private static void exchange(Engine engine) {
		try {
			engine.world().allGather(new long[1], new long[engine.world().worldSize()]);
		}
		catch (Throwable ex) {
			engine.close();
			throw ex;
		}
	}

	private @Nullable Joined failed(Throwable failure) {
		if (failure instanceof BackendUnavailableException || failure instanceof Error) {
			throw new IllegalStateException("the group cannot form", failure);
		}
		this.lastFailure = (failure instanceof RuntimeException unchecked) ? unchecked : null;
		return null;
	}

	/** The rank is the position among the slots; local ranks likewise, on each host. */
	private RankAssignment assignment(Formation formation, int port) {
		List<Member> members = formation.members();
		List<Member> local = members.stream()
			.filter((other) -> other.hostIdentity().equals(self().hostIdentity()))
			.toList();
		return new RankAssignment(members.indexOf(self()), members.size(), local.indexOf(self()), local.size(),
				this.context.endpoint().host(members.getFirst()), port);
	}

	/**
	 * The rendezvous port at this host: the launcher's, unless a stopped process still
	 * holds it.
	 * @throws IOException if no port is free, which fails this attempt
	 */
	int freePort() throws IOException {
		String bind = this.context.settings().bindAddress();
		String host = (bind != null) ? bind : this.context.endpoint().host(self());
		IOException last = new IOException();
		for (int port : new int[] { this.context.launched().masterPort(), 0 }) {
			try (ServerSocket socket = new ServerSocket()) {
				socket.setReuseAddress(true);
				socket.bind(new InetSocketAddress(InetAddress.getByName(host), port));
				return socket.getLocalPort();
			}
			catch (IOException ex) {
				last = ex;
			}
		}
		IOException failure = new IOException("no port is free at " + host + ": " + last.getMessage(), last);
		this.lastFailure = failure;
		throw failure;
	}

	private Member self() {
		return this.context.member().self();
	}

}
