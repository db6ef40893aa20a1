package io.tutti.engine.control.diagnosis;

import java.util.ArrayList;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

import io.tutti.engine.control.diagnosis.GroupFinding.Arrival;
import io.tutti.engine.dispatch.CallRecord;

/**
 * How late each rank entered the calls of a group that are in all traces.
 */
final class Arrivals {

	private static final long NANOS_PER_MICRO = 1000;

	private final Map<Integer, Lateness> byRank = new TreeMap<>();

	private int calls;

	private Arrivals() {
	}

	/** Compares the ranks that returned a trace. */
	static Arrivals of(String group, SortedMap<Integer, RankTrace> traces) {
		Arrivals arrivals = new Arrivals();
		traces.keySet().forEach((rank) -> arrivals.byRank.put(rank, new Lateness()));
		GroupTrace first = (traces.size() > 1) ? traces.firstEntry().getValue().group(group) : null;
		if (first != null) {
			first.calls().forEach((call) -> arrivals.compare(group, call.call().sequence(), traces));
		}
		return arrivals;
	}

	private void compare(String group, long sequence, SortedMap<Integer, RankTrace> traces) {
		SortedMap<Integer, Long> started = new TreeMap<>();
		for (Map.Entry<Integer, RankTrace> entry : traces.entrySet()) {
			GroupTrace trace = entry.getValue().group(group);
			CallRecord call = (trace != null) ? trace.at(sequence) : null;
			if (call == null) {
				return;
			}
			started.put(entry.getKey(), entry.getValue().epochNanos(call.startedNanos()));
		}
		long earliest = started.values().stream().mapToLong(Long::longValue).min().orElse(0);
		long latest = started.values().stream().mapToLong(Long::longValue).max().orElse(0);
		started.forEach((rank, at) -> this.byRank.get(rank).add(at - earliest, at == latest));
		this.calls++;
	}

	/** The number of calls compared. */
	int calls() {
		return this.calls;
	}

	/** The arrivals by rank; empty if no call could be compared. */
	List<Arrival> all() {
		List<Arrival> all = new ArrayList<>();
		if (this.calls > 0) {
			this.byRank.forEach((rank, lateness) -> all.add(lateness.arrival(rank)));
		}
		return all;
	}

	private static final class Lateness {

		private final LongSummaryStatistics nanos = new LongSummaryStatistics();

		private int timesLast;

		void add(long afterFirstNanos, boolean last) {
			this.nanos.accept(afterFirstNanos);
			this.timesLast += last ? 1 : 0;
		}

		Arrival arrival(int rank) {
			return new Arrival(rank, this.nanos.getSum() / this.nanos.getCount() / NANOS_PER_MICRO,
					this.nanos.getMax() / NANOS_PER_MICRO, this.timesLast);
		}

	}

}
