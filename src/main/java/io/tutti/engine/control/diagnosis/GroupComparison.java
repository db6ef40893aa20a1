package io.tutti.engine.control.diagnosis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import io.tutti.engine.control.diagnosis.GroupFinding.Arrival;
import io.tutti.engine.control.diagnosis.GroupFinding.Kind;
import io.tutti.engine.dispatch.CallRecord;
import org.jspecify.annotations.Nullable;

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
		this.unasked = unasked;
		this.group = group;
		this.members = members;
		traces.forEach((rank, trace) -> {
			if (members.contains(rank)) {
				this.traces.put(rank, trace);
			}
		});
	}

	GroupFinding find() {
		long stuck = oldestWait();
		Arrivals arrivals = Arrivals.of(this.group, this.traces);
		return (stuck >= 0) ? waiting(stuck, arrivals) : passing(arrivals);
	}

	/** The lowest sequence number at which a rank waits, -1 for none. */
	private long oldestWait() {
		long oldest = Long.MAX_VALUE;
		for (RankTrace trace : this.traces.values()) {
			GroupTrace known = trace.group(this.group);
			CallRecord running = (known != null) ? known.running() : null;
			if (running != null && running.durationNanos(trace.takenNanos()) >= LONG_CALL_LIMIT.toNanos()) {
				oldest = Math.min(oldest, running.call().sequence());
			}
		}
		return (oldest == Long.MAX_VALUE) ? -1 : oldest;
	}

	private GroupFinding waiting(long sequence, Arrivals arrivals) {
		Map<String, List<Integer>> called = called(sequence);
		if (called.size() > 1) {
			return finding(Kind.MISMATCH, sequence, minority(called), arrivals,
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
							+ waiters(sequence));
		}
		return finding(Kind.LONG_CALL, sequence, List.of(), arrivals,
				"every rank has entered " + call + "; " + waiters(sequence) + lastToEnter(sequence));
	}

	/** The missing ranks. Names ranks that were not asked only if there are no others. */
	private List<Integer> missing(long sequence) {
		List<Integer> behind = this.members.stream().filter((rank) -> last(rank) < sequence).sorted().toList();
		List<Integer> asked = behind.stream().filter((rank) -> !this.unasked.contains(rank)).toList();
		return asked.isEmpty() ? behind : asked;
	}

	/** The ranks by the call they made at a sequence number, in rank order. */
	private Map<String, List<Integer>> called(long sequence) {
		Map<String, List<Integer>> called = new LinkedHashMap<>();
		this.traces.forEach((rank, trace) -> {
			CallRecord call = at(rank, sequence);
			if (call != null) {
				called.computeIfAbsent(call.call().toString(), (text) -> new ArrayList<>()).add(rank);
			}
		});
		return called;
	}

	/** The ranks whose call differs from the most frequent one; all ranks in a tie. */
	private static List<Integer> minority(Map<String, List<Integer>> called) {
		int most = called.values().stream().mapToInt(List::size).max().orElse(0);
		boolean tie = called.values().stream().filter((ranks) -> ranks.size() == most).count() > 1;
		return called.values()
			.stream()
			.filter((ranks) -> tie || ranks.size() < most)
			.flatMap(List::stream)
			.sorted()
			.toList();
	}

	private String position(int rank) {
		RankTrace trace = this.traces.get(rank);
		GroupTrace known = (trace != null) ? trace.group(this.group) : null;
		if (trace == null) {
			return "rank " + rank + " does not answer";
		}
		if (known == null || known.calls().isEmpty()) {
			return "rank " + rank + " has entered no call of it";
		}
		CallRecord newest = known.calls().getLast();
		String left = (newest.state() == CallRecord.State.RUNNING) ? "is still in "
				: "left, " + DiagnosisText.time(micros(trace.takenNanos() - newest.endedNanos())) + " ago, ";
		return "rank " + rank + " " + left + newest.call();
	}

	private String waiters(long sequence) {
		List<Integer> waiting = new ArrayList<>();
		long longest = 0;
		for (Map.Entry<Integer, RankTrace> entry : this.traces.entrySet()) {
			CallRecord call = at(entry.getKey(), sequence);
			if (call != null && call.state() == CallRecord.State.RUNNING) {
				waiting.add(entry.getKey());
				longest = Math.max(longest, call.durationNanos(entry.getValue().takenNanos()));
			}
		}
		return DiagnosisText.ranks(waiting) + ((waiting.size() == 1) ? " has" : " have") + " been in it for "
				+ DiagnosisText.time(micros(longest));
	}

	private String lastToEnter(long sequence) {
		SortedMap<Long, Integer> started = new TreeMap<>();
		this.traces.forEach((rank, trace) -> {
			CallRecord call = at(rank, sequence);
			if (call != null) {
				started.put(trace.epochNanos(call.startedNanos()), rank);
			}
		});
		if (started.size() < 2) {
			return "";
		}
		return ", rank " + started.lastEntry().getValue() + " entered last, "
				+ DiagnosisText.time(micros(started.lastKey() - started.firstKey())) + " after the first";
	}

	private GroupFinding passing(Arrivals arrivals) {
		long last = this.members.stream().mapToLong(this::last).max().orElse(-1);
		if (last < 0) {
			return finding(Kind.IDLE, -1, List.of(), arrivals, "no call has been made in group " + this.group);
		}
		String moving = "group " + this.group + " is at #" + last;
		Arrival latest = arrivals.all().stream().max(Comparator.comparingLong(Arrival::meanMicros)).orElse(null);
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
		return new GroupFinding(kind, this.group, sequence, ranks, arrivals.all(), text);
	}

	private long last(int rank) {
		RankTrace trace = this.traces.get(rank);
		GroupTrace known = (trace != null) ? trace.group(this.group) : null;
		return (known != null) ? known.last() : -1;
	}

	private @Nullable CallRecord at(int rank, long sequence) {
		GroupTrace known = this.traces.get(rank).group(this.group);
		return (known != null) ? known.at(sequence) : null;
	}

	private static long micros(long nanos) {
		return TimeUnit.NANOSECONDS.toMicros(Math.max(0, nanos));
	}

}
