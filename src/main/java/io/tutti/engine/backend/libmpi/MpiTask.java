package io.tutti.engine.backend.libmpi;

import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * A call of the library outside of a group's calls, and its result: either a blocking
 * call, or one non-blocking request.
 */
final class MpiTask<T> extends MpiOperation {

	private final Function<MpiCalls, T> task;

	private final boolean startsRequest;

	private final CompletableFuture<T> result = new CompletableFuture<>();

	private T value;

	/** A blocking call. */
	MpiTask(Function<MpiCalls, T> task) {
		this.task = task;
		this.startsRequest = false;
	}

	private MpiTask(Start start, T value) {
		this.startsRequest = true;
		this.task = (calls) -> {
			start.request(calls, request());
			return value;
		};
	}

	/** A request, which is done when the library reports it. */
	static MpiTask<Boolean> ofRequest(Start start) {
		return new MpiTask<>(start, true);
	}

	@Override
	boolean begin(MpiCalls calls) {
		this.value = this.task.apply(calls);
		return this.startsRequest;
	}

	@Override
	void finished() {
		RuntimeException failure = failure();
		if (failure != null) {
			this.result.completeExceptionally(failure);
		}
		else {
			this.result.complete(this.value);
		}
	}

	CompletableFuture<T> result() {
		return this.result;
	}

	/** Starts a request. */
	@FunctionalInterface
	interface Start {

		void request(MpiCalls calls, long request);

	}

}
