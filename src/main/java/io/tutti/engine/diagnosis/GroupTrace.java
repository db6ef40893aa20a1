package io.tutti.engine.diagnosis;

import java.util.List;

import io.tutti.engine.dispatch.CallRecord;
import io.tutti.engine.dispatch.DefaultProcessGroup;
import io.tutti.engine.dispatch.FlightRecorder;
import io.tutti.engine.spi.GroupIdentity;
import org.jspecify.annotations.Nullable;

/**
 * The last calls of one rank in one group.
 *
 * @param group name of the group
 * @param members the world ranks of its ranks, by rank in the group
 * @param transport the group's transport
 * @param last sequence number of the last call that was entered, -1 for none
 * @param calls the last calls, the oldest first
 */
public record GroupTrace(String group, List<Integer> members, String transport, long last, List<CallRecord> calls) {

	public GroupTrace {
		members = List.copyOf(members);
		calls = List.copyOf(calls);
	}

	/** The trace of a rank that does not have the group. */
	static GroupTrace none(String group) {
		return new GroupTrace(group, List.of(), "", -1, List.of());
	}

	/** Records a group's last calls, up to the limit. */
	public static GroupTrace of(DefaultProcessGroup group, int limit) {
		GroupIdentity identity = group.identity();
		FlightRecorder recorder = group.recorder();
		List<CallRecord> calls = recorder.latest(limit);
		long last = calls.isEmpty() ? recorder.last() : calls.getLast().call().sequence();
		return new GroupTrace(identity.name(), identity.members(), group.transport(), last, calls);
	}

	/** The call with a sequence number, {@code null} if it is not in the trace. */
	public @Nullable CallRecord at(long sequence) {
		if (this.calls.isEmpty()) {
			return null;
		}
		long index = sequence - this.calls.getFirst().call().sequence();
		if (index >= 0 && index < this.calls.size()) {
			CallRecord call = this.calls.get((int) index);
			if (call.call().sequence() == sequence) {
				return call;
			}
		}
		return this.calls.stream().filter((call) -> call.call().sequence() == sequence).findFirst().orElse(null);
	}

	/** The call in progress, {@code null} if there is none. */
	public @Nullable CallRecord running() {
		CallRecord newest = this.calls.isEmpty() ? null : this.calls.getLast();
		return (newest != null && newest.state() == CallRecord.State.RUNNING) ? newest : null;
	}

}
