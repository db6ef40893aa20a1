package io.tutti.service.recorder;

import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.tutti.engine.diagnosis.GroupTrace;
import io.tutti.engine.diagnosis.RankTrace;
import io.tutti.engine.dispatch.CallRecord;
import org.jspecify.annotations.Nullable;

/**
 * Calls in the Trace Event Format, which Perfetto and {@code chrome://tracing} show as a
 * timeline: a process for each rank, a thread for each of its groups.
 *
 * @param traceEvents the events
 * @param displayTimeUnit the unit of the time axis
 */
public record ChromeTrace(List<Event> traceEvents, String displayTimeUnit) {

	private static final double NANOS_PER_MICRO = 1e3;

	/**
	 * A call, or the name of a rank or group.
	 *
	 * @param name name of the event
	 * @param cat name of the group
	 * @param ph {@code X} for a call, {@code M} for a name
	 * @param ts microseconds since the first call of all
	 * @param dur microseconds that it took
	 * @param pid the rank
	 * @param tid number of the group within the rank
	 * @param args further attributes
	 */
	@JsonInclude(JsonInclude.Include.NON_NULL)
	public record Event(String name, String cat, String ph, double ts, @Nullable Double dur, int pid, int tid,
			Map<String, Object> args) {
	}

	/** The timeline of some ranks. */
	public static ChromeTrace of(Collection<RankTrace> accounts) {
		long origin = accounts.stream()
			.flatMap((account) -> account.groups()
				.stream()
				.flatMap((group) -> group.calls().stream())
				.map((call) -> account.epochNanos(call.startedNanos())))
			.min(Long::compare)
			.orElse(0L);
		List<Event> events = new ArrayList<>();
		accounts.forEach((account) -> add(events, account, origin));
		return new ChromeTrace(events, "ms");
	}

	private static void add(List<Event> events, RankTrace account, long origin) {
		int rank = account.rank();
		events.add(new Event("process_name", "", "M", 0, null, rank, 0, Map.of("name", "rank " + rank)));
		events.add(new Event("process_sort_index", "", "M", 0, null, rank, 0, Map.of("sort_index", rank)));
		for (int number = 0; number < account.groups().size(); number++) {
			GroupTrace group = account.groups().get(number);
			events.add(new Event("thread_name", "", "M", 0, null, rank, number, Map.of("name", group.group())));
			for (CallRecord call : group.calls()) {
				events.add(event(account, group, number, call, origin));
			}
		}
	}

	private static Event event(RankTrace account, GroupTrace group, int number, CallRecord call, long origin) {
		Map<String, Object> more = new LinkedHashMap<>();
		more.put("call", call.call().toString());
		more.put("bytes", call.bytes());
		more.put("state", call.state());
		more.put("algorithm", call.algorithm());
		more.put("transport", group.transport());
		more.put("waitedMicros", (call.startedNanos() - call.issuedNanos()) / NANOS_PER_MICRO);
		return new Event(call.call().collective().label() + " #" + call.call().sequence(), group.group(), "X",
				(account.epochNanos(call.startedNanos()) - origin) / NANOS_PER_MICRO,
				call.durationNanos(account.takenNanos()) / NANOS_PER_MICRO, account.rank(), number, more);
	}

}
