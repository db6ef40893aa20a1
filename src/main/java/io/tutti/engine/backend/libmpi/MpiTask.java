package io.tutti.engine.backend.libmpi;

import java.lang.foreign.MemorySegment;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * A call of the library outside of a group's calls, and its result.
 */
final class MpiTask<T> extends MpiOperation {

	private final Function<MpiCalls, T> task;

	private final CompletableFuture<T> result = new CompletableFuture<>();

	MpiTask(Function<MpiCalls, T> task) {
		super(MemorySegment.NULL);
		this.task = task;
	}

	@Override
	boolean begin(MpiCalls calls) {
		if (!this.result.isDone()) {
			this.result.complete(this.task.apply(calls));
		}
		return false;
	}

	@Override
	void finished() {
		RuntimeException failure = failure();
		if (failure != null) {
			this.result.completeExceptionally(failure);
		}
	}

	/** The result. The call is left out if this is completed before its turn. */
	CompletableFuture<T> result() {
		return this.result;
	}

}
