package io.tutti.engine.backend.libmpi;

import java.util.concurrent.CompletableFuture;

/**
 * One non-blocking request to the library and its completion.
 */
final class MpiExchange extends MpiOperation {

	private final Begin begin;

	private final CompletableFuture<Boolean> result = new CompletableFuture<>();

	MpiExchange(Begin begin) {
		this.begin = begin;
	}

	@Override
	boolean begin(MpiCalls calls) {
		this.begin.request(calls, request());
		return true;
	}

	@Override
	void finished() {
		RuntimeException failure = failure();
		if (failure != null) {
			this.result.completeExceptionally(failure);
		}
		this.result.complete(true);
	}

	CompletableFuture<Boolean> result() {
		return this.result;
	}

	/** Starts the request. */
	@FunctionalInterface
	interface Begin {

		void request(MpiCalls calls, long request);

	}

}
