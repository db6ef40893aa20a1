package io.tutti.service.group;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

import io.tutti.Collective;
import io.tutti.ElasticEvent;
import io.tutti.Failure;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.JoinedGroup;
import io.tutti.engine.diagnosis.RankTrace;
import io.tutti.engine.dispatch.CallTotals;
import io.tutti.engine.dispatch.FlightRecorder;
import org.jspecify.annotations.Nullable;

/**
 * The generations of this process's group: the current one, and what is kept of the
 * earlier ones. A group that is not elastic has one. Thread-safe; one thread reports the
 * changes.
 */
final class Generations {

	/** Each may hold the last calls of several groups, about a megabyte. */
	private static final int MAX_TRACES = 4;

	private static final int MAX_LOSSES = 20;

	/** A generation, and the totals of the earlier ones. */
	record Current(JoinedGroup group, RankAssignment assignment, Map<Collective, CallTotals> earlier) {

		CallTotals totals(Collective collective) {
			return this.earlier.getOrDefault(collective, CallTotals.NONE).plus(this.group.totals(collective));
		}

		RankTrace trace() {
			return RankTrace.take(this.assignment.rank(), this.group.world().generation(), this.group.groups(),
					FlightRecorder.CAPACITY);
		}
	}

	private final List<Consumer<JoinedGroup>> formed = new CopyOnWriteArrayList<>();

	private final List<Consumer<BrokenGeneration>> broken = new CopyOnWriteArrayList<>();

	private final Deque<BrokenGeneration> kept = new ArrayDeque<>();

	private final Deque<GroupHistory.Loss> losses = new ArrayDeque<>();

	private final RankAssignment launched;

	private volatile @Nullable Current current;

	private volatile GroupHistory history = GroupHistory.NONE;

	Generations(RankAssignment launched) {
		this.launched = launched;
	}

	/** The current generation, or the last one, with this rank's place in it. */
	@Nullable Current current() {
		return this.current;
	}

	/** The current generation, or the last one. */
	@Nullable JoinedGroup group() {
		Current now = this.current;
		return (now != null) ? now.group() : null;
	}

	/** This rank's place in it, or in the first one before that has formed. */
	RankAssignment assignment() {
		Current now = this.current;
		return (now != null) ? now.assignment() : this.launched;
	}

	CallTotals totals(Collective collective) {
		Current now = this.current;
		return (now != null) ? now.totals(collective) : CallTotals.NONE;
	}

	GroupHistory history() {
		return this.history;
	}

	/** The last broken generations, oldest first. */
	synchronized List<BrokenGeneration> kept() {
		return List.copyOf(this.kept);
	}

	/** Adds a listener, and calls it for a generation that has formed already. */
	void onFormed(Consumer<JoinedGroup> listener) {
		JoinedGroup now;
		synchronized (this) {
			this.formed.add(listener);
			now = group();
		}
		if (now != null) {
			listener.accept(now);
		}
	}

	void onBroken(Consumer<BrokenGeneration> listener) {
		this.broken.add(listener);
	}

	/** A generation has formed. */
	void form(JoinedGroup group, RankAssignment assignment) {
		List<Consumer<JoinedGroup>> told;
		synchronized (this) {
			Map<Collective, CallTotals> earlier = new EnumMap<>(Collective.class);
			Current last = this.current;
			if (last != null) {
				for (Collective collective : Collective.values()) {
					earlier.put(collective, last.totals(collective));
				}
			}
			this.current = new Current(group, assignment, earlier);
			told = List.copyOf(this.formed);
		}
		told.forEach((listener) -> listener.accept(group));
	}

	/** The current generation has broken, or the group before it has formed. */
	void fail(Failure failure) {
		Current now = this.current;
		BrokenGeneration lost = new BrokenGeneration(failure, assignment(), (now != null) ? now.trace() : null);
		if (now != null) {
			synchronized (this) {
				add(this.kept, lost, MAX_TRACES);
			}
		}
		GroupListeners.forEach(this.broken, (listener) -> listener.accept(lost));
	}

	/** Ranks were lost, and the next generation begins to form. */
	void lose(ElasticEvent.Lost lost) {
		synchronized (this) {
			add(this.losses,
					new GroupHistory.Loss(lost.generation(), lost.slots(), lost.at(), lost.failure().describe(), null),
					MAX_LOSSES);
			note(this.history.reforms(), this.history.reforming(), this.history.ranks(), lost.slots());
		}
		fail(lost.failure());
	}

	synchronized void await(List<Integer> ranks) {
		note(this.history.reforms(), this.history.reforming(), this.history.ranks(), ranks);
	}

	/** A generation of an elastic group has formed. */
	void form(JoinedGroup group, RankAssignment assignment, ElasticEvent.Formed event) {
		synchronized (this) {
			GroupHistory.Loss last = this.losses.peekLast();
			if (last != null && last.recoveredAfter() == null) {
				this.losses.removeLast();
				this.losses.addLast(new GroupHistory.Loss(last.generation(), last.ranks(), last.at(), last.problem(),
						event.after()));
			}
			boolean again = event.again();
			note(this.history.reforms() + (again ? 1 : 0),
					this.history.reforming().plus(again ? event.after() : Duration.ZERO), event.slots(), List.of());
		}
		form(group, assignment);
	}

	private void note(long reforms, Duration reforming, List<Integer> ranks, List<Integer> awaited) {
		this.history = new GroupHistory(reforms, reforming, ranks, awaited, List.copyOf(this.losses));
	}

	private static <T> void add(Deque<T> all, T one, int limit) {
		all.addLast(one);
		while (all.size() > limit) {
			all.removeFirst();
		}
	}

}
