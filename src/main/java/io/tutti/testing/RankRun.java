package io.tutti.testing;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.tutti.CollectiveTimeoutException;
import io.tutti.GroupAbortedException;
import io.tutti.ProcessGroup;
import org.opentest4j.AssertionFailedError;
import org.opentest4j.TestAbortedException;

/**
 * Runs one test with one thread per rank, until every rank has finished or the time limit
 * has passed. The first failure of a rank aborts the group for the other ranks.
 */
final class RankRun {

	/** Time for interrupted ranks to finish after the time limit. */
	private static final Duration GIVE_UP = Duration.ofSeconds(2);

	/** The test body of a rank. */
	interface Body {

		/** Runs on the rank's thread. */
		void run(ProcessGroup group) throws Throwable;

	}

	/** A failed rank and its failure. */
	private record RankFailure(int rank, Throwable cause) {
	}

	private final RankWorld world;

	private final int worldSize;

	private final Body body;

	private final CountDownLatch running;

	private final List<RankFailure> failures = new CopyOnWriteArrayList<>();

	private final Map<Integer, ProcessGroup> groups = new ConcurrentHashMap<>();

	private final Map<Integer, Thread> unfinished = new ConcurrentHashMap<>();

	RankRun(RankWorld world, int worldSize, Body body) {
		this.world = world;
		this.worldSize = worldSize;
		this.body = body;
		this.running = new CountDownLatch(worldSize);
	}

	/**
	 * Runs the test.
	 * @throws Throwable the failure of the test; the message names the rank
	 */
	void run(Duration limit) throws Throwable {
		for (int rank = 0; rank < this.worldSize; rank++) {
			start(rank);
		}
		boolean done = this.running.await(limit.toNanos(), TimeUnit.NANOSECONDS);
		List<Integer> late = done ? List.of() : this.unfinished.keySet().stream().sorted().toList();
		if (!done) {
			end(late);
		}
		report(late, limit);
	}

	private void start(int rank) {
		Thread thread = Thread.ofPlatform().name("rank-" + rank).daemon().unstarted(() -> runRank(rank));
		this.unfinished.put(rank, thread);
		thread.start();
	}

	private void runRank(int rank) {
		try {
			ProcessGroup group = this.world.group(rank);
			this.groups.put(rank, group);
			this.body.run(group);
		}
		catch (Throwable ex) {
			fail(new RankFailure(rank, ex));
		}
		finally {
			this.unfinished.remove(rank);
			this.running.countDown();
		}
	}

	/** Aborts the group, so that other ranks do not wait for the failed one. */
	private void fail(RankFailure failure) {
		boolean first = add(failure);
		ProcessGroup group = this.groups.get(failure.rank());
		if (first && group != null) {
			group.abort("rank " + failure.rank() + " failed the test: " + failure.cause());
		}
	}

	private synchronized boolean add(RankFailure failure) {
		this.failures.add(failure);
		return this.failures.size() == 1;
	}

	private void end(List<Integer> late) throws InterruptedException {
		for (int rank : late) {
			Thread thread = this.unfinished.get(rank);
			if (thread != null) {
				thread.interrupt();
			}
		}
		this.running.await(GIVE_UP.toNanos(), TimeUnit.NANOSECONDS);
	}

	private void report(List<Integer> late, Duration limit) throws Throwable {
		List<RankFailure> reported = new ArrayList<>(this.failures);
		reported.removeIf((failure) -> late.contains(failure.rank()) && !isTimeout(failure));
		if (reported.isEmpty() && late.isEmpty()) {
			return;
		}
		if (!reported.isEmpty() && reported.getFirst().cause() instanceof TestAbortedException skipped) {
			reported.removeIf(RankRun::followsFromSkip);
			if (reported.isEmpty() && late.isEmpty()) {
				throw skipped;
			}
		}
		throw reported.isEmpty() ? timeout(late, limit) : failure(reported, late);
	}

	/**
	 * The deadline of a call passed, which names the ranks that it waited for. Other
	 * failures of a late rank follow from the end of the test.
	 */
	private static boolean isTimeout(RankFailure failure) {
		return failure.cause() instanceof CollectiveTimeoutException;
	}

	/** The assumption failed on this rank, or on another one, which aborted the group. */
	private static boolean followsFromSkip(RankFailure failure) {
		return failure.cause() instanceof TestAbortedException || failure.cause() instanceof GroupAbortedException;
	}

	private AssertionFailedError timeout(List<Integer> late, Duration limit) {
		AssertionFailedError error = new AssertionFailedError(
				"timed out after " + limit.toSeconds() + " s: ranks " + late + " of " + this.worldSize);
		this.failures.forEach((failure) -> error.addSuppressed(failure.cause()));
		return error;
	}

	/** Failures caused by the abort after the first failure are omitted. */
	private AssertionFailedError failure(List<RankFailure> reported, List<Integer> late) {
		RankFailure first = reported.getFirst();
		List<RankFailure> others = reported.stream()
			.skip(1)
			.filter((failure) -> !(failure.cause() instanceof GroupAbortedException))
			.toList();
		String also = others.isEmpty() ? ""
				: " (failed too: ranks " + others.stream().map(RankFailure::rank).toList() + ")";
		List<Integer> silent = new ArrayList<>(late);
		reported.forEach((failure) -> silent.remove((Integer) failure.rank()));
		String stuck = silent.isEmpty() ? "" : " (not done: ranks " + silent + ")";
		AssertionFailedError error = new AssertionFailedError(
				"rank " + first.rank() + " of " + this.worldSize + also + stuck + ": " + message(first.cause()),
				first.cause());
		others.forEach((failure) -> error.addSuppressed(failure.cause()));
		return error;
	}

	private static String message(Throwable cause) {
		String message = cause.getMessage();
		return (cause instanceof AssertionError && message != null) ? message : cause.toString();
	}

}
