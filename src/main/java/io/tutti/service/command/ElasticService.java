package io.tutti.service.command;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.tutti.CollectiveException;
import io.tutti.ElasticGroup;
import io.tutti.ElasticState;
import io.tutti.Failure;
import io.tutti.MembershipChangedException;
import io.tutti.ProcessGroup;
import io.tutti.engine.backend.JoinedGroup;
import io.tutti.engine.control.BarrierOutcome;
import io.tutti.engine.control.RendezvousException;
import io.tutti.service.group.GroupLifecycle;
import org.jspecify.annotations.Nullable;

/**
 * Forms the generations of a serving group: the next one when a rank is lost or leaves,
 * and when processes wait to join. The ranks learn of the latter from rank 0, by a
 * barrier of the control plane that rank 0 enters last.
 */
final class ElasticService {

	/** Blank, so that no client can use it. */
	private static final String MEMBERSHIP_LABEL = " ";

	/** Only the loss of a rank ends the wait of the others for rank 0. */
	private static final Duration NO_LIMIT = Duration.ofDays(365);

	private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

	/** A rank that has passed the barrier leaves this generation before the others do. */
	private static final Duration LEAVING = Duration.ofMillis(500);

	private final GroupLifecycle lifecycle;

	private final @Nullable Duration linger;

	/**
	 * Creates a service without starting it.
	 * @param linger how long to keep serving when the group has failed for good,
	 * {@code null} to end at once, so that a launcher can start this rank again
	 */
	ElasticService(GroupLifecycle lifecycle, @Nullable Duration linger) {
		this.lifecycle = lifecycle;
		this.linger = linger;
	}

	/**
	 * Runs until the group may not continue, and fails with the reason after the linger
	 * time.
	 */
	CompletableFuture<Void> end() {
		CompletableFuture<Void> end = new CompletableFuture<>();
		ElasticGroup group = this.lifecycle.elastic();
		group.onEvent(ElasticEventLines::print);
		Thread.ofPlatform().name("tutti-r" + this.lifecycle.assignment().rank() + "-generations").daemon().start(() -> {
			try {
				end.complete(group.run(new NoState(), this::serve));
			}
			catch (RuntimeException | Error ex) {
				end.completeExceptionally(ex);
			}
		});
		return end.exceptionallyCompose(this::linger);
	}

	/** No linger time after an abort, or if the group has never formed. */
	private CompletableFuture<Void> linger(Throwable failure) {
		if (this.linger == null) {
			return CompletableFuture.failedFuture(failure);
		}
		return switch (failure) {
			case CollectiveException broken when broken.failure().kind() != Failure.Kind.ABORTED ->
				BrokenGroup.linger(this.linger, broken.failure().describe(), broken);
			case RendezvousException missed when this.lifecycle.formed().isDone() ->
				BrokenGroup.linger(this.linger, String.valueOf(missed.getMessage()), missed);
			default -> CompletableFuture.failedFuture(failure);
		};
	}

	/** Returns by an exception when this generation ends. */
	private Void serve(ProcessGroup world) throws InterruptedException {
		JoinedGroup joined = this.lifecycle.generation(world);
		CompletableFuture<Boolean> changes = new CompletableFuture<>();
		boolean entered = false;
		CompletableFuture<Failure> left = LeftRanks.failure(joined, LEAVING);
		while (true) {
			if (!entered && (world.rank() != 0 || this.lifecycle.joinersWait())) {
				entered = true;
				Thread.ofVirtual()
					.name("tutti-r" + world.rank() + "-membership")
					.start(() -> awaitChange(joined, changes));
			}
			if (changes.getNow(false)) {
				throw new MembershipChangedException("processes wait to join");
			}
			requireIntact(world, joined.world().failure());
			requireIntact(world, left.getNow(null));
			TimeUnit.NANOSECONDS.sleep(POLL_NANOS);
		}
	}

	private static void awaitChange(JoinedGroup joined, CompletableFuture<Boolean> changes) {
		try {
			changes.complete(
					joined.control().barrier(MEMBERSHIP_LABEL, NO_LIMIT).result() == BarrierOutcome.Result.PASSED);
		}
		catch (RuntimeException ex) {
			// The failure of the group ends the generation.
		}
	}

	private static void requireIntact(ProcessGroup world, @Nullable Failure failure) {
		if (failure != null) {
			throw CollectiveException.of(world.rank(), world.worldSize(), failure, null);
		}
	}

	/** A serving rank holds nothing that the other ranks must have too. */
	private static final class NoState implements ElasticState {

		@Override
		public long step() {
			return 0;
		}

		@Override
		public void rollback() {
		}

		@Override
		public void synchronize(ProcessGroup group, int source) {
		}

		@Override
		public byte[] digest() {
			return new byte[0];
		}

	}

}
