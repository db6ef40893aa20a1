package io.tutti.service.command;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/**
 * Waits for the event that ends a command.
 */
final class Await {

	private Await() {
	}

	/**
	 * Waits for the first of several events, without a time limit.
	 * @throws Exception the failure of that event
	 */
	static Object first(CompletableFuture<?>... events) throws Exception {
		try {
			return CompletableFuture.anyOf(events).get();
		}
		catch (ExecutionException ex) {
			throw unwrapped(ex);
		}
	}

	private static Exception unwrapped(Throwable wrapper) {
		Throwable cause = wrapper;
		while ((cause instanceof ExecutionException || cause instanceof CompletionException)
				&& cause.getCause() != null) {
			cause = cause.getCause();
		}
		return (cause instanceof Exception failure) ? failure : new ExecutionException(cause);
	}

}
