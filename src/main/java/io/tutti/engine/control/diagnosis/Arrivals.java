package io.tutti.engine.control.diagnosis;

import java.util.ArrayList;
import java.util.List;
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
	static Arrivals of(String group, SortedMap<Integer, RankTrace> accounts) {
		Arrivals arrivals = new Arrivals();
		accounts.keySet().forEach((rank) -> arrivals.byRank.put(rank, new Lateness()));
		GroupTrace first = (accounts.size() > 1) ? accounts.firstEntry().getValue().group(group) : null;
		if (first != null) {
			first.calls().forEach((call) -> arrivals.compare(group, call.call().sequence(), accounts));
		}
		return arrivals;
	}

	private void compare(String group, long sequence, SortedMap<Integer, RankTrace> accounts) {
		SortedMap<Integer, Long> started = new TreeMap<>();
		for (Map.Entry<Integer, RankTrace> entry : accounts.entrySet()) {
			GroupTrace account = entry.getValue().group(group);
			CallRecord call = (account != null) ? account.at(sequence) : null;
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
			this.byRank.forEach((rank, lateness) -> all.add(lateness.arrival(rank, this.calls)));
		}
		return all;
	}

	private static final class Lateness {

		private long sumNanos;

		private long maxNanos;

		private int timesLast;

		void add(long nanos, boolean last) {
			this.sumNanos += nanos;
			this.maxNanos = Math.max(this.maxNanos, nanos);
			this.timesLast += last ? 1 : 0;
		}

		Arrival arrival(int rank, int calls) {
			return new Arrival(rank, this.sumNanos / calls / NANOS_PER_MICRO, this.maxNanos / NANOS_PER_MICRO,
					this.timesLast);
		}

	}

}
