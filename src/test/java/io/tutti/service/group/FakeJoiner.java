package io.tutti.service.group;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import io.tutti.CollectiveListener;
import io.tutti.Failure;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.backend.JoinedGroup;

/**
 * A rendezvous whose end and result a test controls.
 */
public final class FakeJoiner implements GroupJoiner {

	private final CompletableFuture<FakeGroup> met = new CompletableFuture<>();

	private final CompletableFuture<Thread> waiting = new CompletableFuture<>();

	private volatile CollectiveListener listener = CollectiveListener.NONE;

	/** A rendezvous that completes at once. */
	public static FakeJoiner of(FakeGroup group) {
		FakeJoiner joiner = new FakeJoiner();
		joiner.joined(group);
		return joiner;
	}

	public void joined(FakeGroup group) {
		this.met.complete(group);
	}

	public void failed(Throwable cause) {
		this.met.completeExceptionally(cause);
	}

	/** Reports a rank that was stopped before the group has formed. */
	public void withdrew(int rank) {
		this.listener.withdrew(rank);
	}

	/** Breaks the group as rank 0's verdict does. */
	public void broken(Failure failure) {
		if (BreakListener.breaksWorld(failure)) {
			this.met.join().fail(failure);
		}
		this.listener.broken(failure);
	}

	/** Completes with the thread that joins. */
	public CompletableFuture<Thread> waiting() {
		return this.waiting;
	}

	@Override
	public JoinedGroup join(RankAssignment assignment, EngineSettings settings, CollectiveListener listener) {
		this.listener = listener;
		this.waiting.complete(Thread.currentThread());
		try {
			return this.met.get();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException("interrupted", ex);
		}
		catch (java.util.concurrent.ExecutionException ex) {
			throw switch (ex.getCause()) {
				case RuntimeException failure -> failure;
				case Error failure -> throw failure;
				case null, default -> new CompletionException(ex.getCause());
			};
		}
	}

}
