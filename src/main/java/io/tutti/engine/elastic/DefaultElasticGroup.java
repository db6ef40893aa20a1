package io.tutti.engine.elastic;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.tutti.CollectiveException;
import io.tutti.CollectiveMismatchException;
import io.tutti.DataType;
import io.tutti.ElasticEvent;
import io.tutti.ElasticGroup;
import io.tutti.ElasticLoop;
import io.tutti.ElasticState;
import io.tutti.Failure;
import io.tutti.MembershipChangedException;
import io.tutti.ProcessGroup;
import io.tutti.engine.backend.Engine;
import io.tutti.engine.spi.Sha256Digest;
import org.jspecify.annotations.Nullable;

/**
 * Runs a loop in generation after generation of an {@link ElasticEngine}. When a
 * generation has formed, the ranks compare step and hash of their states, and those that
 * are new, behind or different take the state of the lowest rank with the highest step.
 */
public final class DefaultElasticGroup implements ElasticGroup {

	/**
	 * How long a rank whose loop has returned waits for the last message of the others.
	 */
	private static final Duration FAREWELL = Duration.ofSeconds(2);

	/** What the state of a rank is worth. */
	private enum Held {

		/** Stale, or partly overwritten by a transfer whose source was lost. */
		NONE,
		/** As the founders began. Counts while no rank has a shared state. */
		INITIAL,
		/** Equal on all ranks at the step that it states. */
		SHARED

	}

	private static final String EVERY_RANK = "every rank must run the same steps, commit each of them and return after the last";

	private static final int HASH_BYTES = 32;

	/** Step, what the state is worth, and the hash of it. */
	private static final int SUMMARY_BYTES = Long.BYTES + Long.BYTES + HASH_BYTES;

	/** What one rank reports of its state. */
	private record Summary(long step, Held held, byte[] hash) {

		boolean sameAs(Summary other) {
			return this.step == other.step && Arrays.equals(this.hash, other.hash);
		}

	}

	private final ElasticEngine elastic;

	private final Runnable afterwards;

	private volatile @Nullable ElasticState state;

	private Held held = Held.INITIAL;

	/**
	 * What this rank's state may be after a transfer that has not ended: what it was
	 * before, or that of the source. Empty if no transfer was interrupted.
	 */
	private List<Summary> possible = List.of();

	/**
	 * @param afterwards runs when the group has closed
	 */
	public DefaultElasticGroup(ElasticEngine elastic, Runnable afterwards) {
		this.elastic = elastic;
		this.afterwards = afterwards;
	}

	@Override
	public <R> R run(ElasticState state, ElasticLoop<R> loop) {
		this.state = state;
		CollectiveException broken = null;
		R result = null;
		boolean returned = false;
		try {
			while (true) {
				Engine engine = this.elastic.form(broken, returned);
				if (engine == null) {
					return result;
				}
				broken = null;
				returned = false;
				ProcessGroup group = engine.world();
				boolean agreed = true;
				try {
					agreed = agree(group, state);
					if (!agreed) {
						throw stateLost(group);
					}
					state.reset(group);
					result = loop.run(group);
					returned = true;
					finish(group);
					return result;
				}
				catch (Exception ex) {
					if (causeOf(ex, MembershipChangedException.class) != null) {
						// Every rank leaves the loop after the same step.
						continue;
					}
					broken = continuable(ex, group);
					if (!agreed) {
						throw broken;
					}
					if (!returned) {
						state.rollback();
					}
				}
				catch (Error ex) {
					abort(group, ex);
					throw ex;
				}
			}
		}
		finally {
			this.state = null;
		}
	}

	/**
	 * The failure after which the group continues.
	 * @throws RuntimeException any other exception, after the other ranks were told
	 */
	private static CollectiveException continuable(Exception ex, ProcessGroup group) {
		CollectiveException failed = causeOf(ex, CollectiveException.class);
		if (failed == null) {
			abort(group, ex);
			throw (ex instanceof RuntimeException unchecked) ? unchecked
					: new IllegalStateException("the loop failed: " + ex, ex);
		}
		if (!continuesAfter(failed.failure()) || Thread.currentThread().isInterrupted()) {
			throw failed;
		}
		return failed;
	}

	private static void abort(ProcessGroup group, Throwable failure) {
		group.abort("the loop of rank " + group.rank() + " failed: " + failure);
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
		Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
		for (Throwable cause = failure; cause != null && seen.add(cause); cause = cause.getCause()) {
			if (type.isInstance(cause)) {
				return type.cast(cause);
			}
		}
		return null;
	}

	/**
	 * Brings all ranks to the newest state.
	 * @return whether there is one: {@code false} on every rank if the ranks that held it
	 * were lost before another had received all of it
	 */
	private boolean agree(ProcessGroup group, ElasticState state) {
		this.held = switch (this.elastic.origin()) {
			case FOUNDED -> (this.held == Held.INITIAL) ? Held.INITIAL : Held.NONE;
			case CONTINUED -> this.held;
			case JOINED -> Held.NONE;
			case null -> throw new IllegalStateException("the group has not formed yet");
		};
		Summary own = new Summary(state.step(), this.held, Sha256Digest.of(state.digest()));
		if (!this.possible.isEmpty() && this.possible.stream().noneMatch(own::sameAs)) {
			this.held = Held.NONE;
			own = new Summary(own.step(), this.held, own.hash());
		}
		List<Summary> all = summaries(group, own);
		Held best = all.stream().map(Summary::held).max(Comparator.naturalOrder()).orElseThrow();
		if (best == Held.NONE) {
			return false;
		}
		int source = IntStream.range(0, all.size())
			.filter((rank) -> all.get(rank).held() == best)
			.boxed()
			.max((a, b) -> (all.get(a).step() != all.get(b).step()) ? Long.compare(all.get(a).step(), all.get(b).step())
					: Integer.compare(b, a))
			.orElseThrow();
		List<Integer> receivers = differing(all, source);
		if (!receivers.isEmpty()) {
			if (receivers.contains(group.rank())) {
				this.possible = List.of(own, all.get(source));
			}
			state.synchronize(group, source);
			byte[] hash = Sha256Digest.of(state.digest());
			if (Arrays.equals(hash, all.get(source).hash())) {
				this.held = Held.SHARED;
			}
			List<Integer> still = differing(summaries(group, new Summary(state.step(), this.held, hash)), source);
			if (!still.isEmpty()) {
				throw mismatch(group, still, "the state of these ranks differs from that of rank " + source
						+ " after it was synchronized: ElasticState.synchronize and digest must cover the same state");
			}
			List<Integer> slots = this.elastic.slots();
			this.elastic.publish(new ElasticEvent.Synchronized(group.generation(), slots.get(source),
					receivers.stream().map(slots::get).toList(), all.get(source).step()));
		}
		this.held = Held.SHARED;
		this.possible = List.of();
		return true;
	}

	private static CollectiveException stateLost(ProcessGroup group) {
		return CollectiveException.of(group.rank(), group.worldSize(),
				Failure.outside(Failure.Kind.PEER_LOST, group.name(), List.of(),
						"the ranks that held the state were lost before another rank had received all of it."
								+ " Start the job again from its last checkpoint"),
				null);
	}

	private static List<Integer> differing(List<Summary> all, int source) {
		return IntStream.range(0, all.size()).filter((rank) -> !all.get(rank).sameAs(all.get(source))).boxed().toList();
	}

	private static List<Summary> summaries(ProcessGroup group, Summary summary) {
		byte[] own = ByteBuffer.allocate(SUMMARY_BYTES)
			.putLong(summary.step())
			.putLong(summary.held().ordinal())
			.put(summary.hash())
			.array();
		byte[] all = new byte[group.worldSize() * SUMMARY_BYTES];
		group.allGather(MemorySegment.ofArray(own), MemorySegment.ofArray(all), DataType.UINT8);
		ByteBuffer in = ByteBuffer.wrap(all);
		List<Summary> summaries = new ArrayList<>();
		for (int rank = 0; rank < group.worldSize(); rank++) {
			byte[] hash = new byte[HASH_BYTES];
			long step = in.getLong();
			Held of = Held.values()[Math.toIntExact(in.getLong())];
			in.get(hash);
			summaries.add(new Summary(step, of, hash));
		}
		return summaries;
	}

	private static CollectiveException mismatch(ProcessGroup group, List<Integer> ranks, String detail) {
		return CollectiveException.of(group.rank(), group.worldSize(),
				Failure.outside(Failure.Kind.MISMATCH, group.name(), ranks, detail), null);
	}

	@Override
	public void commit() {
		ElasticState current = this.state;
		Engine engine = this.elastic.engine();
		if (current == null || engine == null) {
			throw new IllegalStateException("commit is called by the loop of run");
		}
		ProcessGroup group = engine.world();
		long[] own = { current.step(), this.elastic.joinersWait() ? 1 : 0 };
		long[] all = new long[2 * group.worldSize()];
		try {
			group.allGather(own, all);
		}
		catch (CollectiveMismatchException ex) {
			throw outOfStep(group, "commits step " + current.step(), ex);
		}
		List<Integer> others = IntStream.range(0, group.worldSize())
			.filter((rank) -> all[2 * rank] != all[0])
			.boxed()
			.toList();
		if (!others.isEmpty()) {
			throw mismatch(group, others,
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
			linger();
		}
	}

	private static CollectiveException outOfStep(ProcessGroup group, String doing, CollectiveMismatchException ex) {
		Failure failure = ex.failure();
		return mismatch(group, failure.ranks(), "rank " + group.rank() + " " + doing + ", other ranks do not: "
				+ EVERY_RANK + " (" + failure.detail() + ")");
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
		Engine engine = this.elastic.engine();
		return (engine != null) ? engine.world().generation() : -1;
	}

	@Override
	public void onEvent(Consumer<ElasticEvent> listener) {
		this.elastic.onEvent(listener);
	}

	@Override
	public void close() {
		this.elastic.close();
		this.afterwards.run();
	}

	/**
	 * As in {@code elastic group, generation 2: group world of 3 ranks, rank 1, ready,
	 * over tcp}.
	 */
	@Override
	public String toString() {
		Engine engine = this.elastic.engine();
		return (engine != null) ? "elastic group, generation " + engine.world().generation() + ": " + engine.world()
				: "elastic group, not formed yet";
	}

}
