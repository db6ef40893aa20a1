package io.tutti.service.command;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;

import io.tutti.CollectiveException;
import io.tutti.Failure;
import io.tutti.engine.RankAssignment;
import io.tutti.service.group.GroupLifecycle;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Ends a serving rank when its group fails: at once if the group never forms, and after a
 * linger time if it breaks, so that clients can still request diagnostics.
 */
final class BrokenGroup {

	private static final Logger log = LoggerFactory.getLogger(BrokenGroup.class);

	/** Ranks that are stopped together leave within this time. */
	private static final Duration STOPPING = Duration.ofSeconds(3);

	private final GroupLifecycle group;

	private final @Nullable Duration linger;

	/**
	 * Watches a group.
	 * @param linger how long to keep serving after a failure, {@code null} for no limit
	 */
	BrokenGroup(GroupLifecycle group, @Nullable Duration linger) {
		this.group = group;
		this.linger = linger;
	}

	/**
	 * Fails with the group's failure after the linger time, never completes otherwise.
	 */
	CompletableFuture<Void> end() {
		return this.group.formed()
			.thenCompose((joined) -> this.group.broken()
				.applyToEither(LeftRanks.failure(joined, STOPPING), (failure) -> failure))
			.thenCompose(this::linger);
	}

	/** No linger time after an abort: the caller that aborted knows the reason. */
	private CompletableFuture<Void> linger(Failure failure) {
		if (failure.kind() == Failure.Kind.ABORTED) {
			return CompletableFuture.failedFuture(exception(failure));
		}
		if (this.linger == null) {
			log.error("{}. Still answering requests until it is stopped", failure.describe());
			return new CompletableFuture<>();
		}
		return linger(this.linger, failure.describe(), exception(failure));
	}

	/**
	 * Fails with the failure after the linger time.
	 * @param problem the failure in words, for the log
	 */
	static CompletableFuture<Void> linger(Duration time, String problem, RuntimeException failure) {
		log.error("{}. Answering requests for another {} s", problem, time.toSeconds());
		Executor later = CompletableFuture.delayedExecutor(time.toMillis(), TimeUnit.MILLISECONDS,
				Thread::startVirtualThread);
		return CompletableFuture.runAsync(() -> {
			throw failure;
		}, later);
	}

	private CollectiveException exception(Failure failure) {
		RankAssignment self = this.group.assignment();
		return CollectiveException.of(self.rank(), self.worldSize(), failure, null);
	}

}
