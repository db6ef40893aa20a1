package io.tutti.engine.backend;

import java.util.Collections;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.SequencedMap;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiFunction;
import java.util.function.Consumer;

import io.tutti.Collective;
import io.tutti.CollectiveListener;
import io.tutti.Failure;
import io.tutti.engine.control.ControlListener;
import io.tutti.engine.control.Departure;
import io.tutti.engine.control.RankProgress;
import io.tutti.engine.diagnosis.RankTrace;
import io.tutti.engine.dispatch.CallRecord;
import io.tutti.engine.dispatch.CallTotals;
import io.tutti.engine.dispatch.DefaultProcessGroup;
import io.tutti.engine.failure.DepartedRanks;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.CallReport;
import io.tutti.engine.spi.CleanUp;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.GroupStateException;
import org.jspecify.annotations.Nullable;

/**
 * Connects this process's groups to the control plane: breaks the groups that a verdict
 * affects and reports the progress of each group.
 */
final class GroupRegistry implements ControlListener {

	private static final class Entry {

		private final GroupIdentity identity;

		private final FailureLatch latch;

		private final AtomicBoolean notified = new AtomicBoolean();

		private volatile @Nullable DefaultProcessGroup group;

		Entry(GroupIdentity identity, FailureLatch latch) {
			this.identity = identity;
			this.latch = latch;
		}

	}

	/**
	 * A group that this rank has left.
	 *
	 * @param lastEntered sequence number of its last call, -1 for none
	 * @param last its last call, with which those of ranks that still wait are compared;
	 * {@code null} for none
	 */
	private record LeftGroup(long lastEntered, @Nullable CallReport last) {

		@Nullable CallReport called(long sequence) {
			return (sequence == this.lastEntered) ? this.last : null;
		}

	}

	/** Maximum number of groups whose progress a heartbeat reports. */
	private static final int MAX_REPORTED = 64;

	private static final Comparator<RankProgress> WORLD_FIRST = Comparator
		.comparing((progress) -> !progress.group().equals(Failure.WORLD));

	private final Map<String, Entry> entries = new ConcurrentHashMap<>();

	/**
	 * Maximum number of entries for groups that were left, and for verdicts and
	 * departures of groups not yet formed.
	 */
	static final int REMEMBERED = 1024;

	/** The groups that this rank left most recently. */
	private final Map<String, LeftGroup> left = bounded();

	/** Verdicts on groups that this rank has not formed yet, by group. */
	private final Map<String, Failure> pending = bounded();

	/** Totals of the groups that this rank has left, so that counters never decrease. */
	private final Map<Collective, CallTotals> past = new EnumMap<>(Collective.class);

	/** Verdicts on several groups, which also apply to groups that are formed later. */
	private final CopyOnWriteArrayList<Failure> lasting = new CopyOnWriteArrayList<>();

	/** Ranks that have left the job. */
	private final Set<Integer> gone = ConcurrentHashMap.newKeySet();

	/** Ranks whose control connection ended without a leave message. */
	private final Set<Integer> closedByKernel = ConcurrentHashMap.newKeySet();

	/** Departures from groups that this rank has not formed yet, by group. */
	private final Map<String, Queue<Departure>> early = bounded();

	private final CollectiveListener listener;

	/** Whether this rank has left the group of all ranks. */
	private volatile boolean closed;

	private volatile boolean recordingSites;

	private volatile Consumer<String> drain = (reason) -> {
	};

	private volatile @Nullable String drainReason;

	private volatile Consumer<Integer> departures = (rank) -> {
	};

	GroupRegistry(CollectiveListener listener) {
		this.listener = listener;
	}

	/**
	 * Registers a group and forms it. One that cannot be formed is forgotten.
	 * @throws GroupStateException if this rank leaves the group of all ranks meanwhile
	 */
	DefaultProcessGroup form(GroupIdentity identity,
			BiFunction<GroupIdentity, FailureLatch, DefaultProcessGroup> forming) {
		FailureLatch latch = add(identity);
		DefaultProcessGroup group = CleanUp.orElse(() -> forming.apply(identity, latch),
				() -> forget(identity.name(), new LeftGroup(-1, null)));
		if (this.closed) {
			group.leave();
			throw GroupStateException.closed(identity);
		}
		return group;
	}

	/** Registers a group before it can run, so that it misses no verdict. */
	FailureLatch add(GroupIdentity identity) {
		FailureLatch latch = new FailureLatch();
		Entry entry = new Entry(identity, latch);
		// A listener may close the group, which waits for the failed call.
		latch.onBreakWithoutVerdict(() -> Thread.startVirtualThread(() -> notifyListener(entry)));
		this.entries.put(identity.name(), entry);
		for (Failure verdict : this.lasting) {
			if (concerns(verdict, identity)) {
				latch.trip(verdict);
			}
		}
		Failure pending = this.pending.remove(identity.name());
		if (pending != null) {
			latch.trip(pending);
		}
		takeEarly(entry);
		if (this.gone.contains(0)) {
			latch.departed().endAnnouncements();
		}
		identity.members()
			.stream()
			.filter(this.gone::contains)
			.forEach((rank) -> latch.departed().add(rank, DepartedRanks.NONE_COMPLETED));
		breakIfParentBroke(entry);
		return latch;
	}

	/** A map that evicts the oldest entry when it is full. */
	private static <V> Map<String, V> bounded() {
		return Collections.synchronizedMap(new LinkedHashMap<>() {

			private static final long serialVersionUID = 1L;

			@Override
			protected boolean removeEldestEntry(Map.Entry<String, V> eldest) {
				return size() > REMEMBERED;
			}

		});
	}

	/** Number of groups kept that this rank has left. */
	int remembered() {
		return this.left.size();
	}

	/**
	 * The parent of a group, {@code null} if there is none. That of a group beside the
	 * group of all ranks is the latter.
	 */
	private @Nullable Entry origin(String group) {
		if (group.equals(Failure.WORLD)) {
			return null;
		}
		int end = group.lastIndexOf('/');
		return this.entries.get((end < 0) ? Failure.WORLD : group.substring(0, end));
	}

	private void takeEarly(Entry entry) {
		Queue<Departure> departures = this.early.remove(entry.identity.name());
		if (departures != null) {
			departures.forEach((departure) -> departed(entry, departure));
		}
	}

	/**
	 * Removes a group that this rank has left. The group of all ranks stays registered
	 * for later events.
	 */
	private void remove(DefaultProcessGroup group) {
		if (!group.name().equals(Failure.WORLD)) {
			long lastEntered = group.lastEntered();
			LeftGroup last = new LeftGroup(lastEntered, group.called(lastEntered));
			synchronized (this.past) {
				forget(group.name(), last);
				addToPast(group);
			}
		}
	}

	private void addToPast(DefaultProcessGroup group) {
		if (isCounted(group)) {
			for (Collective collective : Collective.values()) {
				this.past.merge(collective, group.recorder().totals(collective), CallTotals::plus);
			}
		}
	}

	/** Collectives in which ranks choose transports are not the application's. */
	private static boolean isCounted(DefaultProcessGroup group) {
		return !group.name().endsWith(Groups.FORMING);
	}

	private void forget(String group, LeftGroup last) {
		this.left.put(group, last);
		this.entries.remove(group);
	}

	/** Closes all subgroups, nested ones first, and those that are still forming. */
	void closeSubgroups() {
		this.closed = true;
		CleanUp.runAll(groups().stream()
			.filter((group) -> !group.name().equals(Failure.WORLD))
			.sorted(Comparator.comparing(DefaultProcessGroup::name).reversed())
			.<Runnable>map((group) -> group::leave)
			.toList());
	}

	/** Registers the group object once it is ready to run, until it is closed. */
	DefaultProcessGroup ready(DefaultProcessGroup group) {
		Entry entry = this.entries.get(group.name());
		if (entry != null) {
			group.recorder().recordSites(this.recordingSites);
			entry.group = group;
		}
		group.onClose(() -> remove(group));
		return group;
	}

	/**
	 * Sets the action for a request to stop the whole group; runs it at once if the
	 * request came before.
	 */
	void onDrain(Consumer<String> action) {
		this.drain = action;
		String reason = this.drainReason;
		if (reason != null) {
			action.accept(reason);
		}
	}

	/**
	 * Sets the action for each rank that leaves the job; runs it at once for those that
	 * left before.
	 */
	void onDeparture(Consumer<Integer> action) {
		this.departures = action;
		this.gone.forEach(action);
	}

	/**
	 * Breaks the group that the verdict names last: an abort returns then, and no later
	 * call of this rank may run in another group that it breaks. Listeners, which may
	 * close a group, hear of it after that.
	 */
	@Override
	public void failed(Failure verdict) {
		if (verdict.kind() == Failure.Kind.PEER_LOST || abortsJob(verdict)) {
			this.lasting.addIfAbsent(verdict);
		}
		else if (!this.left.containsKey(verdict.group())) {
			this.pending.put(verdict.group(), verdict);
		}
		List<Entry> concerned = this.entries.values()
			.stream()
			.filter((entry) -> concerns(verdict, entry.identity))
			.sorted(Comparator.comparing((entry) -> entry.identity.name().equals(verdict.group())))
			.toList();
		concerned.forEach((entry) -> fail(entry, verdict));
		concerned.forEach(this::notifyListener);
		this.entries.values().forEach(this::breakIfParentBroke);
	}

	private void fail(Entry entry, Failure verdict) {
		this.pending.remove(verdict.group());
		entry.latch.trip(verdict);
	}

	/**
	 * Breaks a group that is still being formed from a broken group: ranks that have
	 * failed in the parent will not take part. Setup groups are part of the forming.
	 */
	private void breakIfParentBroke(Entry entry) {
		Entry origin = origin(entry.identity.name());
		if (origin != null && (entry.group == null || origin.group == null)) {
			breakIfParentBroke(origin);
			Failure broken = origin.latch.failure();
			if (broken != null) {
				entry.latch.trip(broken);
			}
		}
	}

	/**
	 * Stores a departure before the look-up of its group, so that a group that is added
	 * concurrently finds it. Where the group is found, what is stored may include earlier
	 * departures. This one may be stored too late for the group that is being added.
	 */
	@Override
	public void departed(Departure departure) {
		String group = departure.group();
		if (group.equals(Departure.EVERY_GROUP)) {
			this.gone.add(departure.rank());
			this.entries.values().forEach((entry) -> departed(entry, departure));
			this.departures.accept(departure.rank());
			return;
		}
		this.early.computeIfAbsent(group, (name) -> new ConcurrentLinkedQueue<>()).add(departure);
		Entry entry = this.entries.get(group);
		if (entry != null) {
			takeEarly(entry);
			departed(entry, departure);
		}
		else if (this.left.containsKey(group)) {
			this.early.remove(group);
		}
	}

	private static void departed(Entry entry, Departure departure) {
		if (departure.rank() == 0 && departure.group().equals(Departure.EVERY_GROUP)) {
			entry.latch.departed().endAnnouncements();
		}
		if (!entry.identity.members().contains(departure.rank())) {
			return;
		}
		entry.latch.departed().add(departure.rank(), departure.lastCompleted());
		DefaultProcessGroup group = entry.group;
		if (group != null) {
			group.wake();
		}
	}

	/** Also reports a group that this rank itself broke earlier, with its own cause. */
	private void notifyListener(Entry entry) {
		Failure cause = entry.latch.failure();
		if (cause != null && entry.notified.compareAndSet(false, true)) {
			try {
				this.listener.broken(cause);
			}
			catch (RuntimeException ex) {
				// The thread of the control plane goes on.
				this.listener.warn("the listener of group " + entry.identity.name() + " threw: " + ex);
			}
		}
	}

	private boolean concerns(Failure verdict, GroupIdentity group) {
		boolean lost = verdict.kind() == Failure.Kind.PEER_LOST
				&& (verdict.ranks().stream().anyMatch(group.members()::contains) || losesRankZero(verdict));
		return lost || abortsJob(verdict) || verdict.group().equals(group.name());
	}

	/**
	 * Whether nobody will announce which ranks leave other groups because of this loss. A
	 * verdict may also name rank 0 because a call needed it after it had left in order.
	 */
	private boolean losesRankZero(Failure lost) {
		Entry world = this.entries.get(Failure.WORLD);
		return lost.ranks().contains(0) && (world == null || !world.latch.departed().contains(0));
	}

	private static boolean abortsJob(Failure verdict) {
		return verdict.kind() == Failure.Kind.ABORTED && verdict.group().equals(Failure.WORLD);
	}

	@Override
	public void drainRequested(String reason) {
		this.drainReason = reason;
		this.drain.accept(reason);
	}

	@Override
	public long lastEntered(String group) {
		Entry entry = this.entries.get(group);
		if (entry == null) {
			LeftGroup before = this.left.get(group);
			return (before != null) ? before.lastEntered() : NOT_A_MEMBER;
		}
		DefaultProcessGroup found = entry.group;
		return (found != null) ? found.lastEntered() : -1;
	}

	@Override
	public boolean isInside(String group, long sequence) {
		Entry entry = this.entries.get(group);
		DefaultProcessGroup found = (entry != null) ? entry.group : null;
		CallRecord running = (found != null) ? found.recorder().running() : null;
		return running != null && running.call().sequence() == sequence;
	}

	@Override
	public void closedByKernel(int rank) {
		this.closedByKernel.add(rank);
	}

	/** Ranks whose control connection ended without a leave message. */
	Set<Integer> closedByKernel() {
		return Set.copyOf(this.closedByKernel);
	}

	@Override
	public List<RankProgress> progress() {
		return this.entries.values()
			.stream()
			.map((entry) -> new RankProgress(entry.identity.name(), lastEntered(entry.identity.name())))
			.sorted(WORLD_FIRST)
			.limit(MAX_REPORTED)
			.toList();
	}

	@Override
	public List<Integer> members(String group) {
		Entry entry = this.entries.get(group);
		return (entry != null && !group.equals(Failure.WORLD)) ? entry.identity.members() : List.of();
	}

	@Override
	public @Nullable CallReport called(String group, long sequence) {
		Entry entry = this.entries.get(group);
		if (entry == null) {
			LeftGroup before = this.left.get(group);
			return (before != null) ? before.called(sequence) : null;
		}
		DefaultProcessGroup found = entry.group;
		return (found != null) ? found.called(sequence) : null;
	}

	/** This process's totals for a collective, including groups that it has left. */
	CallTotals totals(Collective collective) {
		synchronized (this.past) {
			return groups().stream()
				.filter(GroupRegistry::isCounted)
				.map((group) -> group.recorder().totals(collective))
				.reduce(this.past.getOrDefault(collective, CallTotals.NONE), CallTotals::plus);
		}
	}

	/** Switches the recording of call sites on or off. */
	void recordSites(boolean wanted) {
		this.recordingSites = wanted;
		groups().forEach((group) -> group.recorder().recordSites(wanted));
	}

	/** The groups of this process that are ready to run. */
	List<DefaultProcessGroup> groups() {
		return this.entries.values().stream().map((entry) -> entry.group).filter((group) -> group != null).toList();
	}

	@Override
	public byte[] trace(int limit) {
		DefaultProcessGroup world = this.entries.get(Failure.WORLD).group;
		if (world == null) {
			return new byte[0];
		}
		RankTrace trace = RankTrace.take(world.identity().worldRank(), world.generation(), groups(), limit);
		// After the groups: one that is left meanwhile is in both.
		SequencedMap<String, Long> lastEntered = new LinkedHashMap<>();
		synchronized (this.left) {
			this.left.forEach((group, last) -> lastEntered.put(group, last.lastEntered()));
		}
		return trace.withLeft(lastEntered).encode();
	}

	@Override
	public void withdrew(int rank) {
		this.listener.withdrew(rank);
	}

	@Override
	public void note(String message) {
		this.listener.note(message);
	}

	@Override
	public void warn(String message) {
		this.listener.warn(message);
	}

}
