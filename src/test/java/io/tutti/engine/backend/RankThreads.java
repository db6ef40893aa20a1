package io.tutti.engine.backend;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.tutti.ProcessGroup;

/**
 * Runs one task per rank, each on its own thread, and waits for all of them within a
 * limit.
 */
public final class RankThreads {

	/** A rank's task. */
	public interface RankTask<T> {

		/** Runs on the rank's thread. */
		T run(int rank) throws Exception;

	}

	private RankThreads() {
	}

	/** The results by rank; the first failure, if any, is thrown. */
	public static <T> List<T> run(int worldSize, Duration limit, RankTask<T> task) throws Exception {
		return values(outcomes(worldSize, limit, task));
	}

	/** The same with virtual threads, of which many wait at less cost. */
	static <T> List<T> runVirtual(int worldSize, Duration limit, RankTask<T> task) throws Exception {
		return values(outcomes(worldSize, limit, task, Thread.ofVirtual()));
	}

	private static <T> List<T> values(List<Outcome<T>> outcomes) throws Exception {
		List<T> results = new ArrayList<>();
		for (Outcome<T> outcome : outcomes) {
			if (outcome.failure() instanceof Exception ex) {
				throw ex;
			}
			if (outcome.failure() instanceof Error error) {
				throw error;
			}
			results.add(outcome.value());
		}
		return results;
	}

	/**
	 * Waits until other ranks have started a call. A brief deadline that starts then
	 * finds them in the call, however long their threads had to wait for a processor.
	 * @param sequence the call, or a later one
	 * @param groups the group as the other ranks have it
	 */
	static void awaitStarted(long sequence, ProcessGroup... groups) throws InterruptedException {
		for (ProcessGroup group : groups) {
			while (group.lastEntered() < sequence) {
				Thread.sleep(1);
			}
		}
	}

	/** The outcome of each rank's task, by rank. */
	public static <T> List<Outcome<T>> outcomes(int worldSize, Duration limit, RankTask<T> task) throws Exception {
		return outcomes(worldSize, limit, task, Thread.ofPlatform());
	}

	private static <T> List<Outcome<T>> outcomes(int worldSize, Duration limit, RankTask<T> task, Thread.Builder kind)
			throws Exception {
		List<Thread> threads = new ArrayList<>();
		try (ExecutorService executor = Executors.newFixedThreadPool(worldSize, (runnable) -> {
			threads.add(kind.name("rank-" + threads.size()).unstarted(runnable));
			return threads.getLast();
		})) {
			List<Future<T>> futures = new ArrayList<>();
			for (int rank = 0; rank < worldSize; rank++) {
				int self = rank;
				futures.add(executor.submit(() -> task.run(self)));
			}
			long end = System.nanoTime() + limit.toNanos();
			List<Outcome<T>> outcomes = new ArrayList<>();
			for (int rank = 0; rank < worldSize; rank++) {
				try {
					outcomes.add(outcome(futures.get(rank), end - System.nanoTime()));
				}
				catch (TimeoutException ex) {
					AssertionError overdue = overdue(rank, futures, threads);
					executor.shutdownNow();
					throw overdue;
				}
			}
			return outcomes;
		}
	}

	private static <T> Outcome<T> outcome(Future<T> future, long nanos) throws Exception {
		try {
			return new Outcome<>(future.get(Math.max(1, nanos), TimeUnit.NANOSECONDS), null);
		}
		catch (ExecutionException ex) {
			return new Outcome<>(null, ex.getCause());
		}
	}

	/**
	 * Reports all failures at the limit, since a rank may wait for a rank that failed
	 * much earlier.
	 */
	private static <T> AssertionError overdue(int overdue, List<Future<T>> futures, List<Thread> threads) {
		AssertionError error = new AssertionError("rank " + overdue + " was not done in time");
		for (int rank = 0; rank < futures.size(); rank++) {
			Future<T> future = futures.get(rank);
			if (!future.isDone()) {
				Throwable there = new Throwable("rank " + rank + " is here");
				there.setStackTrace(threads.get(rank).getStackTrace());
				error.addSuppressed(there);
			}
			else if (future.state() == Future.State.FAILED) {
				error.addSuppressed(future.exceptionNow());
			}
		}
		return error;
	}

	/**
	 * The outcome of a task.
	 *
	 * @param value its result, {@code null} if it failed
	 * @param failure its exception, {@code null} if it succeeded
	 */
	public record Outcome<T>(T value, Throwable failure) {
	}

}
