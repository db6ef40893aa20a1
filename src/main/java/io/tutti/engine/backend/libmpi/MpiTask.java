package io.tutti.engine.backend.libmpi;

import java.util.concurrent.CompletableFuture;
import java.util.function.Function;

/**
 * A blocking call of the library and its result.
 */
final class MpiTask<T> extends MpiOperation {

	private final Function<MpiCalls, T> task;

	private final CompletableFuture<T> result = new CompletableFuture<>();

	MpiTask(Function<MpiCalls, T> task) {
		this.task = task;
	}

	@Override
	boolean begin(MpiCalls calls) {
		try {
			this.result.complete(this.task.apply(calls));
		}
		catch (RuntimeException | Error ex) {
			this.result.completeExceptionally(ex);
		}
		return false;
	}

	CompletableFuture<T> result() {
		return this.result;
	}

}
