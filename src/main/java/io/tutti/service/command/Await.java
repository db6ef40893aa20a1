package io.tutti.service.command;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;

/**
 * Waits for what ends a command.
 */
final class Await {

	private Await() {
	}

	/**
	 * Waits for the first of some events, for as long as that takes.
	 * @throws Exception what that event failed with
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
