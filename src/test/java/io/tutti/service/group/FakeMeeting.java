package io.tutti.service.group;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;

import io.tutti.CollectiveListener;
import io.tutti.Failure;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.EngineSettings;

/**
 * A meeting that takes until a test says otherwise, and ends as it says.
 */
public final class FakeMeeting implements GroupJoiner {

	private final CompletableFuture<FakeGroup> met = new CompletableFuture<>();

	private final CompletableFuture<Thread> waiting = new CompletableFuture<>();

	private volatile CollectiveListener listener = CollectiveListener.NONE;

	/** A meeting that takes no time. */
	public static FakeMeeting of(FakeGroup group) {
		FakeMeeting meeting = new FakeMeeting();
		meeting.met(group);
		return meeting;
	}

	public void met(FakeGroup group) {
		this.met.complete(group);
	}

	public void failed(RuntimeException cause) {
		this.met.completeExceptionally(cause);
	}

	/** Tells of a rank that was stopped before all had met. */
	public void withdrew(int rank) {
		this.listener.withdrew(rank);
	}

	/** Breaks the group as a verdict of rank 0 does. */
	public void broken(Failure failure) {
		this.met.join().fail(failure);
		this.listener.broken(failure);
	}

	/** The thread that joins, once it does. */
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
			throw (ex.getCause() instanceof RuntimeException failure) ? failure
					: new CompletionException(ex.getCause());
		}
	}

}
