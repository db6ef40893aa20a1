package io.tutti.engine.elastic;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.tutti.CollectiveException;
import io.tutti.CollectiveMismatchException;
import io.tutti.ElasticEvent;
import io.tutti.ElasticGroup;
import io.tutti.ElasticLoop;
import io.tutti.ElasticState;
import io.tutti.ExitCode;
import io.tutti.Failure;
import io.tutti.MembershipChangedException;
import io.tutti.ProcessGroup;
import io.tutti.engine.backend.Engine;
import io.tutti.engine.spi.CleanUp;
import io.tutti.engine.spi.GroupIdentity;
import org.jspecify.annotations.Nullable;

/**
 * Runs a loop in generation after generation of an {@link ElasticEngine}, after the ranks
 * have agreed on the state.
 */
public final class DefaultElasticGroup implements ElasticGroup {

	/**
	 * How long a rank whose loop has returned waits for the last message of the others.
	 */
	private static final Duration FAREWELL = Duration.ofSeconds(2);

	/** Causes may form a cycle. */
	private static final int MAX_CAUSES = 100;

	private static final String EVERY_RANK = "every rank must run the same steps, commit each of them and return after the last";

	private final ElasticEngine elastic;

	private final Runnable afterwards;

	private final StateAgreement agreement;

	private volatile @Nullable ElasticState state;

	private final OwnLosses losses;

	/**
	 * @param afterwards runs when the group has closed
	 */
	public DefaultElasticGroup(ElasticEngine elastic, Runnable afterwards) {
		this.elastic = elastic;
		this.afterwards = afterwards;
		this.agreement = new StateAgreement(elastic);
		this.losses = new OwnLosses(elastic.heartbeat());
	}

	@Override
	public <R> R run(ElasticState state, ElasticLoop<R> loop) {
		this.state = state;
		try {
			return runAgain(state, loop);
		}
		catch (RuntimeException | Error ex) {
			this.elastic.leave();
			throw ex;
		}
		finally {
			this.state = null;
		}
	}

	private <R> R runAgain(ElasticState state, ElasticLoop<R> loop) {
		CollectiveException broken = null;
		R result = null;
		boolean returned = false;
		while (true) {
			Engine engine = this.elastic.form(broken, returned);
			if (engine == null) {
				return result;
			}
			long formedNanos = System.nanoTime();
			broken = null;
			returned = false;
			ProcessGroup group = engine.world();
			try {
				if (this.agreement.agree(group, state)) {
					state.reset(group);
					result = loop.run(group);
					returned = true;
					finish(group);
					return result;
				}
			}
			catch (Exception ex) {
				// After a change of the members every rank has left the loop after the
				// same step.
				if (causeOf(ex, MembershipChangedException.class) == null) {
					broken = continuable(ex, group);
					if (!returned) {
						state.rollback();
					}
					requireReached(group, broken.failure(), state.step(),
							Duration.ofNanos(System.nanoTime() - formedNanos));
				}
				continue;
			}
			catch (Error ex) {
				abort(group, ex);
				throw ex;
			}
			throw failure(group, Failure.Kind.PEER_LOST, List.of(),
					"the ranks that held the state were lost before another rank had received all of it."
							+ " Start the job again, from its last checkpoint if it has one");
		}
	}

	/**
	 * The failure after which the group continues.
	 * @throws RuntimeException any other exception, after the other ranks were told
	 */
	private CollectiveException continuable(Exception ex, ProcessGroup group) {
		CollectiveException failed = causeOf(ex, CollectiveException.class);
		if (failed == null) {
			if (ex instanceof InterruptedException) {
				Thread.currentThread().interrupt();
			}
			abort(group, ex);
			throw (ex instanceof RuntimeException unchecked) ? unchecked
					: new IllegalStateException("the loop failed: " + ex, ex);
		}
		if (Thread.currentThread().isInterrupted()) {
			throw failed;
		}
		return continuesAfter(failed.failure()) ? failed : causeOf(failed, group);
	}

	/**
	 * The failure of the group of all ranks of which that of a subgroup is a consequence:
	 * a rank that has seen it leaves its subgroups to form the group again, while other
	 * ranks wait for it there.
	 * @throws CollectiveException the failure itself, if it has no such cause
	 */
	private CollectiveException causeOf(CollectiveException failed, ProcessGroup group) {
		Failure cause = mayFollowDeparture(failed.failure()) ? this.elastic.awaitFailure() : null;
		if (cause == null || !continuesAfter(cause)) {
			throw failed;
		}
		return CollectiveException.of(group.rank(), group.worldSize(), cause, failed);
	}

	/** An abort on request usually has another exit code, and is a cause itself. */
	private static boolean mayFollowDeparture(Failure failure) {
		return failure.kind() == Failure.Kind.ABORTED && failure.exitCode() == ExitCode.PEER_LOST
				&& !failure.group().equals(Failure.WORLD);
	}

	/**
	 * A rank that the others lose again and again, though it is alive, has no network to
	 * one of them or is too slow. It ends, so that they continue without it.
	 */
	private void requireReached(ProcessGroup group, Failure failure, long step, Duration lived) {
		if (failure.ranks().contains(group.rank()) && this.losses.add(step, lived)) {
			String reason = (failure.kind() == Failure.Kind.TIMEOUT)
					? "it is slower than tutti.timeout.collective allows. Raise this limit"
					: "one of them does not reach it. Check the network between this host and the others";
			throw failure(group, Failure.Kind.PEER_LOST, failure.ranks(),
					"the other ranks have lost this rank " + OwnLosses.MAX + " times at step " + step
							+ ", and it is alive. It ends, so that they continue without it: " + reason + " ("
							+ failure.detail() + ")");
		}
	}

	private static void abort(ProcessGroup group, Throwable failure) {
		group.abort(ExitCode.ofOthers(failure), "the loop of rank " + group.rank() + " failed: " + failure);
	}

	/** Whether the group forms again after a failure. Other failures end the job. */
	public static boolean continuesAfter(Failure failure) {
		return switch (failure.kind()) {
			case PEER_LOST -> true;
			case TIMEOUT -> !failure.ranks().isEmpty();
			case MISMATCH, ABORTED -> false;
		};
	}

	private static <T> @Nullable T causeOf(Throwable failure, Class<T> type) {
		return Stream.iterate(failure, Objects::nonNull, Throwable::getCause)
			.limit(MAX_CAUSES)
			.filter(type::isInstance)
			.map(type::cast)
			.findFirst()
			.orElse(null);
	}

	private static CollectiveException failure(ProcessGroup group, Failure.Kind kind, List<Integer> ranks,
			String detail) {
		return CollectiveException.of(group.rank(), group.worldSize(),
				Failure.outside(kind, group.name(), ranks, detail), null);
	}

	@Override
	public void commit() {
		ElasticState current = this.state;
		if (current == null || this.elastic.engine() == null) {
			throw new IllegalStateException("commit must be called by the loop that run was given, while it runs");
		}
		ProcessGroup group = group();
		long[] own = { current.step(), this.elastic.joinersWait() ? 1 : 0 };
		long[] all = new long[2 * group.worldSize()];
		try {
			group.allGather(own, all);
		}
		catch (CollectiveMismatchException ex) {
			throw outOfStep(group, "commits step " + current.step(), ex);
		}
		List<Integer> others = GroupIdentity.ranksWhere(group.worldSize(), (rank) -> all[2 * rank] != all[0]);
		if (!others.isEmpty()) {
			throw failure(group, Failure.Kind.MISMATCH, others,
					"rank 0 commits step " + all[0] + ", "
							+ others.stream()
								.map((rank) -> "rank " + rank + " commits step " + all[2 * rank])
								.collect(Collectors.joining(", "))
							+ ": " + EVERY_RANK);
		}
		if (IntStream.range(0, group.worldSize()).anyMatch((rank) -> all[2 * rank + 1] != 0)) {
			throw new MembershipChangedException("processes wait to join after step " + all[0]);
		}
	}

	/**
	 * Waits until the loops of all ranks have returned. A rank that is lost before breaks
	 * the barrier, and the loops run again. A rank that is lost after it may have broken
	 * the barrier for some ranks only: these ask the others, which answer for a moment.
	 */
	private void finish(ProcessGroup group) {
		try {
			group.barrier();
		}
		catch (CollectiveMismatchException ex) {
			throw outOfStep(group, "has returned from its loop", ex);
		}
		this.elastic.done();
		try {
			group.withTimeout(FAREWELL).barrier();
		}
		catch (CollectiveException ex) {
			this.elastic.warnOfLostAtTheEnd(ex.failure());
			linger();
		}
	}

	private static CollectiveException outOfStep(ProcessGroup group, String doing, CollectiveMismatchException ex) {
		Failure failure = ex.failure();
		return failure(group, Failure.Kind.MISMATCH, failure.ranks(), "rank " + group.rank() + " " + doing
				+ ", other ranks do not: " + EVERY_RANK + " (" + failure.detail() + ")");
	}

	private static void linger() {
		try {
			Thread.sleep(FAREWELL);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
	}

	@Override
	public ProcessGroup group() {
		Engine engine = this.elastic.engine();
		if (engine == null) {
			throw new IllegalStateException("the group has not formed yet");
		}
		return engine.world();
	}

	@Override
	public long generation() {
		return (this.elastic.engine() != null) ? group().generation() : -1;
	}

	@Override
	public void onEvent(Consumer<ElasticEvent> listener) {
		this.elastic.onEvent(listener);
	}

	@Override
	public void close() {
		CleanUp.runAll(List.of(this.elastic::close, this.afterwards));
	}

	/**
	 * As in {@code elastic group, generation 2: group world of 3 ranks, rank 1, ready,
	 * over tcp}.
	 */
	@Override
	public String toString() {
		return "elastic group, "
				+ ((this.elastic.engine() != null) ? "generation " + generation() + ": " + group() : "not formed yet");
	}

}
