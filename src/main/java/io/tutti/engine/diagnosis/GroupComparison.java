package io.tutti.engine.diagnosis;

import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import io.tutti.engine.diagnosis.GroupFinding.Arrival;
import io.tutti.engine.diagnosis.GroupFinding.Kind;
import io.tutti.engine.dispatch.CallRecord;

/**
 * Compares the calls of the ranks of one group. Examines the earliest call that has run
 * for at least {@link #LONG_CALL_LIMIT}: the ranks that have not entered it, and the
 * ranks that made another call at its sequence number.
 */
final class GroupComparison {

	/** A call that takes less time is not examined. */
	static final Duration LONG_CALL_LIMIT = Duration.ofMillis(100);

	/**
	 * A rank is a straggler if it is at least this late on average and usually the last.
	 */
	static final Duration STRAGGLING = Duration.ofMillis(10);

	/** One late call, or a few, make no straggler. */
	static final int STRAGGLING_CALLS = 5;

	/**
	 * Calls that began before are history: a rank that was late then may not be now. A
	 * group with few calls is compared by the latest of them, until it is idle as long.
	 */
	static final Duration ARRIVALS_WINDOW = Duration.ofMinutes(1);

	private final String group;

	private final List<Integer> members;

	private final List<Integer> unasked;

	/** The traces of the members by rank, including traces without this group. */
	private final SortedMap<Integer, RankTrace> traces = new TreeMap<>();

	/**
	 * Prepares a comparison.
	 * @param unasked ranks without a trace because they were not asked
	 */
	GroupComparison(String group, List<Integer> members, Map<Integer, RankTrace> traces, List<Integer> unasked) {
		this.group = group;
		this.members = members;
		this.unasked = unasked;
		this.traces.putAll(traces);
		this.traces.keySet().retainAll(members);
	}

	GroupFinding find() {
		long stuck = oldestWait();
		Arrivals arrivals = arrivals();
		return (stuck >= 0) ? waiting(stuck, arrivals) : passing(arrivals);
	}

	/** The lowest sequence number at which a rank waits, -1 for none. */
	private long oldestWait() {
		long oldest = Long.MAX_VALUE;
		for (RankTrace trace : this.traces.values()) {
			CallRecord running = group(trace).running();
			if (running != null && running.durationNanos(trace.takenNanos()) >= LONG_CALL_LIMIT.toNanos()) {
				oldest = Math.min(oldest, running.call().sequence());
			}
		}
		return (oldest == Long.MAX_VALUE) ? -1 : oldest;
	}

	private GroupTrace group(RankTrace trace) {
		return trace.group(this.group);
	}

	/** The calls at a sequence number, by rank. */
	private SortedMap<Integer, CallRecord> at(long sequence) {
		SortedMap<Integer, CallRecord> calls = new TreeMap<>();
		this.traces.forEach((rank, trace) -> {
			CallRecord call = group(trace).at(sequence);
			if (call != null) {
				calls.put(rank, call);
			}
		});
		return calls;
	}

	/** When the ranks entered their calls, in nanoseconds since 1970. */
	private Map<Integer, Long> started(SortedMap<Integer, CallRecord> calls) {
		Map<Integer, Long> started = new TreeMap<>();
		calls.forEach((rank, call) -> started.put(rank, this.traces.get(rank).epochNanos(call.startedNanos())));
		return started;
	}

	/** Compares the ranks that returned a trace. */
	private Arrivals arrivals() {
		if (this.traces.size() < 2) {
			return Arrivals.of(List.of());
		}
		RankTrace first = this.traces.firstEntry().getValue();
		List<CallRecord> calls = group(first).calls();
		long since = first.takenNanos() - ARRIVALS_WINDOW.toNanos();
		if (calls.isEmpty() || calls.getLast().startedNanos() < since) {
			return Arrivals.of(List.of());
		}
		int from = Math.max(0, calls.size() - STRAGGLING_CALLS);
		while (from > 0 && calls.get(from - 1).startedNanos() >= since) {
			from--;
		}
		return Arrivals.of(calls.subList(from, calls.size())
			.stream()
			.map((call) -> at(call.call().sequence()))
			.filter((byRank) -> byRank.size() == this.traces.size())
			.map(this::started)
			.toList());
	}

	private GroupFinding waiting(long sequence, Arrivals arrivals) {
		SortedMap<Integer, CallRecord> calls = at(sequence);
		Map<String, List<Integer>> called = calls.keySet()
			.stream()
			.collect(Collectors.groupingBy((rank) -> calls.get(rank).call().toString(), LinkedHashMap::new,
					Collectors.toList()));
		if (called.size() > 1) {
			return finding(Kind.MISMATCH, sequence, minority(called.values()), arrivals,
					"ranks called different collectives at #" + sequence + " of group " + this.group + ": "
							+ called.entrySet()
								.stream()
								.map((entry) -> DiagnosisText.ranks(entry.getValue()) + " called " + entry.getKey())
								.collect(Collectors.joining(", ")));
		}
		String call = called.keySet().iterator().next() + " of group " + this.group;
		List<Integer> missing = missing(sequence);
		if (!missing.isEmpty()) {
			return finding(Kind.MISSING, sequence, missing, arrivals,
					DiagnosisText.ranks(missing) + " " + ((missing.size() == 1) ? "is" : "are") + " missing from "
							+ call + ": "
							+ missing.stream().limit(4).map(this::position).collect(Collectors.joining(", ")) + "; "
							+ waiters(calls));
		}
		return finding(Kind.LONG_CALL, sequence, List.of(), arrivals,
				"every rank has entered " + call + "; " + waiters(calls) + lastToEnter(started(calls)));
	}

	/** The missing ranks. Names ranks that were not asked only if there are no others. */
	private List<Integer> missing(long sequence) {
		List<Integer> behind = this.members.stream().filter((rank) -> last(rank) < sequence).sorted().toList();
		List<Integer> asked = behind.stream().filter((rank) -> !this.unasked.contains(rank)).toList();
		return asked.isEmpty() ? behind : asked;
	}

	/** The ranks whose call differs from the most frequent one; all ranks in a tie. */
	private static List<Integer> minority(Collection<List<Integer>> called) {
		int most = called.stream().mapToInt(List::size).max().orElse(0);
		boolean tie = called.stream().filter((ranks) -> ranks.size() == most).count() > 1;
		return called.stream().filter((ranks) -> tie || ranks.size() < most).flatMap(List::stream).sorted().toList();
	}

	private String position(int rank) {
		RankTrace trace = this.traces.get(rank);
		if (trace == null) {
			return "rank " + rank + " does not answer";
		}
		List<CallRecord> calls = group(trace).calls();
		if (calls.isEmpty()) {
			long last = group(trace).last();
			return "rank " + rank + ((last >= 0) ? " left the group after #" + last : " has entered no call of it");
		}
		CallRecord newest = calls.getLast();
		String left = (newest.state() == CallRecord.State.RUNNING) ? "is still in "
				: "left, " + DiagnosisText.time(micros(trace.takenNanos() - newest.endedNanos())) + " ago, ";
		return "rank " + rank + " " + left + newest.call();
	}

	private String waiters(SortedMap<Integer, CallRecord> calls) {
		List<Integer> waiting = calls.keySet()
			.stream()
			.filter((rank) -> calls.get(rank).state() == CallRecord.State.RUNNING)
			.toList();
		long longest = waiting.stream()
			.mapToLong((rank) -> calls.get(rank).durationNanos(this.traces.get(rank).takenNanos()))
			.max()
			.orElse(0);
		return DiagnosisText.ranks(waiting) + ((waiting.size() == 1) ? " has" : " have") + " been in it for "
				+ DiagnosisText.time(micros(longest));
	}

	private static String lastToEnter(Map<Integer, Long> started) {
		SortedMap<Long, Integer> byTime = new TreeMap<>();
		started.forEach((rank, at) -> byTime.put(at, rank));
		if (byTime.size() < 2) {
			return "";
		}
		return ", rank " + byTime.lastEntry().getValue() + " entered last, "
				+ DiagnosisText.time(micros(byTime.lastKey() - byTime.firstKey())) + " after the first";
	}

	private GroupFinding passing(Arrivals arrivals) {
		long last = this.members.stream().mapToLong(this::last).max().orElse(-1);
		if (last < 0) {
			return finding(Kind.IDLE, -1, List.of(), arrivals, "no call has been made in group " + this.group);
		}
		String moving = "group " + this.group + " is at #" + last;
		Arrival latest = arrivals.byRank().stream().max(Comparator.comparingLong(Arrival::meanMicros)).orElse(null);
		if (latest == null) {
			return finding(Kind.MOVING, last, List.of(), arrivals, moving);
		}
		String lateness = "rank " + latest.rank() + " was last in " + latest.timesLast() + " of the last "
				+ arrivals.calls() + " calls, " + DiagnosisText.time(latest.meanMicros())
				+ " after the first on average and " + DiagnosisText.time(latest.maxMicros()) + " at most";
		if (arrivals.calls() >= STRAGGLING_CALLS && latest.timesLast() * 2 > arrivals.calls()
				&& latest.meanMicros() >= micros(STRAGGLING.toNanos())) {
			return finding(Kind.STRAGGLING, last, List.of(latest.rank()), arrivals, moving + ": " + lateness);
		}
		return finding(Kind.MOVING, last, List.of(), arrivals, moving + "; " + lateness);
	}

	private GroupFinding finding(Kind kind, long sequence, List<Integer> ranks, Arrivals arrivals, String text) {
		return new GroupFinding(kind, this.group, sequence, ranks, arrivals.byRank(), text);
	}

	private long last(int rank) {
		RankTrace trace = this.traces.get(rank);
		return (trace != null) ? group(trace).last() : -1;
	}

	private static long micros(long nanos) {
		return TimeUnit.NANOSECONDS.toMicros(Math.max(0, nanos));
	}

}
