package io.tutti.engine.diagnosis;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Map;
import java.util.TreeMap;

import io.tutti.engine.diagnosis.GroupFinding.Arrival;

/**
 * How late each rank entered the calls of a group that are in all traces.
 *
 * @param calls number of calls that were compared
 * @param byRank the ranks in order; empty if no call could be compared
 */
record Arrivals(int calls, List<Arrival> byRank) {

	private static final long NANOS_PER_MICRO = 1000;

	/**
	 * Compares the ranks.
	 * @param calls for each call, the time at which each rank entered it
	 */
	static Arrivals of(Collection<Map<Integer, Long>> calls) {
		Map<Integer, LongSummaryStatistics> lateNanos = new TreeMap<>();
		Map<Integer, Integer> timesLast = new HashMap<>();
		for (Map<Integer, Long> call : calls) {
			long first = Collections.min(call.values());
			long last = Collections.max(call.values());
			call.forEach((rank, at) -> {
				lateNanos.computeIfAbsent(rank, (key) -> new LongSummaryStatistics()).accept(at - first);
				timesLast.merge(rank, (at == last) ? 1 : 0, Integer::sum);
			});
		}
		List<Arrival> byRank = new ArrayList<>();
		lateNanos
			.forEach((rank, late) -> byRank.add(new Arrival(rank, late.getSum() / late.getCount() / NANOS_PER_MICRO,
					late.getMax() / NANOS_PER_MICRO, timesLast.get(rank))));
		return new Arrivals(calls.size(), byRank);
	}

}
