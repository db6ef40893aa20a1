package io.tutti.service.command;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

import io.tutti.engine.backend.JoinedGroup;
import io.tutti.engine.control.BarrierOutcome;

/**
 * Waits of a command.
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
			throw (ex.getCause() instanceof Exception failure) ? failure : ex;
		}
	}

	/**
	 * Waits at a control-plane barrier until rank 0 has measured other systems.
	 * @param measurement what rank 0 does meanwhile
	 * @throws IllegalStateException if a rank does not arrive within the limit
	 */
	static void barrier(JoinedGroup joined, String label, Duration limit, String measurement) {
		BarrierOutcome outcome = joined.control().barrier(label, limit);
		if (outcome.result() != BarrierOutcome.Result.PASSED) {
			throw new IllegalStateException("after " + outcome.waitedMillis() + " ms of " + limit.toMillis() + " "
					+ measurement + " on rank 0 had not ended; missing ranks: " + outcome.missingRanks());
		}
	}

}
