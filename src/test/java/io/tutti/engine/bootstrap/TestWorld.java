package io.tutti.engine.bootstrap;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import io.tutti.FreePort;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.bootstrap.Endpoint.NameService;
import io.tutti.engine.control.ControlPlane;
import io.tutti.engine.control.Membership;
import io.tutti.engine.control.RecordedControlEvents;
import io.tutti.engine.control.RendezvousException;
import io.tutti.engine.control.RendezvousSettings;
import io.tutti.engine.spi.Deadline;

/** Ranks that form a group over real connections, each on its own thread. */
final class TestWorld implements AutoCloseable {

	static final RendezvousSettings SETTINGS = new RendezvousSettings("job", null, -1, null, null, 7000,
			Duration.ofSeconds(30), Duration.ofMillis(500), "", null);

	static final Duration WAIT_LIMIT = Duration.ofSeconds(40);

	final String host;

	final int port = FreePort.next();

	final int worldSize;

	final List<RecordedControlEvents> events = new ArrayList<>();

	final Map<Integer, Membership> members = new HashMap<>();

	TestWorld(int worldSize) {
		this("127.0.0.1", worldSize);
	}

	TestWorld(String host, int worldSize) {
		this.host = host;
		this.worldSize = worldSize;
		IntStream.range(0, worldSize).forEach((rank) -> this.events.add(new RecordedControlEvents()));
	}

	static TestWorld met(int worldSize) {
		return met(worldSize, SETTINGS);
	}

	static TestWorld met(int worldSize, RendezvousSettings settings) {
		TestWorld world = new TestWorld(worldSize);
		world.joinAll(settings);
		return world;
	}

	static RendezvousSettings token(String token) {
		return new RendezvousSettings("job", token, -1, null, null, 7000, Duration.ofSeconds(30),
				Duration.ofMillis(500), "", null);
	}

	static RendezvousSettings generation(long generation) {
		return new RendezvousSettings("job", null, generation, null, null, 7000, Duration.ofSeconds(30),
				Duration.ofMillis(500), "", null);
	}

	static RendezvousSettings job(String jobId) {
		return new RendezvousSettings(jobId, null, -1, null, null, 7000, Duration.ofSeconds(30), Duration.ofMillis(500),
				"", null);
	}

	static RendezvousSettings heartbeat(Duration heartbeat) {
		return new RendezvousSettings("job", null, -1, null, null, 7000, heartbeat, Duration.ofMillis(500), "", null);
	}

	static RendezvousSettings verdict(Duration verdict) {
		return new RendezvousSettings("job", null, -1, null, null, 7000, Duration.ofSeconds(30), verdict, "", null);
	}

	/** A deadline that a test starts once the ranks are where the case begins. */
	static Deadline held(Duration timeout) {
		Deadline deadline = Deadline.after(timeout);
		deadline.restart(System.nanoTime() + WAIT_LIMIT.toNanos(), timeout.toNanos());
		return deadline;
	}

	/** Starts a held deadline. Rank 0 checks it at each heartbeat, once a second. */
	static void start(Deadline held) {
		held.restart(System.nanoTime(), held.timeout().toNanos());
	}

	void joinAll(RendezvousSettings settings) {
		List<CompletableFuture<Membership>> joining = IntStream.range(0, this.worldSize)
			.mapToObj((rank) -> joining(rank, settings))
			.toList();
		for (int rank = 0; rank < this.worldSize; rank++) {
			this.members.put(rank, join(joining.get(rank)));
		}
	}

	CompletableFuture<Membership> joining(int rank, RendezvousSettings settings) {
		return joining(rank, settings, WAIT_LIMIT);
	}

	CompletableFuture<Membership> joining(int rank, RendezvousSettings settings, Duration timeout) {
		return joining(rank, this.worldSize, settings, timeout);
	}

	CompletableFuture<Membership> joining(int rank, int claimedSize, RendezvousSettings settings, Duration timeout) {
		return joining(assignment(rank, claimedSize), settings, timeout, NameService.SYSTEM);
	}

	CompletableFuture<Membership> joining(int rank, RendezvousSettings settings, Deadline deadline) {
		return joining(assignment(rank, this.worldSize), settings, () -> deadline, NameService.SYSTEM);
	}

	private RankAssignment assignment(int rank, int claimedSize) {
		return new RankAssignment(rank, claimedSize, 0, 1, this.host, this.port);
	}

	CompletableFuture<Membership> joining(RankAssignment assignment, RendezvousSettings settings, Duration timeout,
			NameService names) {
		return joining(assignment, settings, () -> Deadline.after(timeout), names);
	}

	private CompletableFuture<Membership> joining(RankAssignment assignment, RendezvousSettings settings,
			Supplier<Deadline> deadline, NameService names) {
		int rank = assignment.rank();
		RecordedControlEvents recorded = (rank < this.worldSize) ? this.events.get(rank) : new RecordedControlEvents();
		CompletableFuture<Membership> result = new CompletableFuture<>();
		Thread.ofPlatform().daemon().name("join-" + rank).start(() -> {
			try {
				result.complete(Rendezvous.join(assignment, settings, recorded, deadline.get(), names));
			}
			catch (Throwable ex) {
				result.completeExceptionally(ex);
			}
		});
		return result;
	}

	static <T> T join(CompletableFuture<T> future) {
		return future.orTimeout(WAIT_LIMIT.toSeconds() + 10, TimeUnit.SECONDS).join();
	}

	/** The exception with which a rendezvous failed. */
	static RendezvousException refusal(CompletableFuture<Membership> joining) {
		try {
			join(joining).control().close();
		}
		catch (CompletionException ex) {
			if (ex.getCause() instanceof RendezvousException refused) {
				return refused;
			}
			throw ex;
		}
		throw new AssertionError("the rendezvous succeeded");
	}

	ControlPlane control(int rank) {
		return this.members.get(rank).control();
	}

	@Override
	public void close() {
		this.members.values().parallelStream().forEach((member) -> member.control().close());
	}

}
