package io.tutti.engine.diagnosis;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

import io.tutti.Failure;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.IdleBackend;
import io.tutti.engine.control.RecordedControlEvents;
import io.tutti.engine.control.simulated.SimulatedControl;
import io.tutti.engine.dispatch.CallRecord;
import io.tutti.engine.dispatch.DefaultProcessGroup;
import io.tutti.engine.dispatch.FlightRecorder;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.GroupIdentity;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(20)
class RankTraceTest {

	private static final GroupIdentity WORLD = GroupIdentity.world(0, 3, 0);

	@Test
	void theWorldGroupIsFirstAndThenTheLargest() {
		List<DefaultProcessGroup> groups = Stream
			.of(WORLD.other("a", 0, List.of(0, 1)), WORLD.other("http", 0, List.of(0, 1, 2)), WORLD)
			.map(RankTraceTest::group)
			.toList();
		assertThat(RankTrace.take(0, 0, groups, 1).groups()).extracting(GroupTrace::group)
			.containsExactly(Failure.WORLD, "http", "a");
	}

	@Test
	void aCallInProgressBeganBeforeTheTraceWasTaken() {
		DefaultProcessGroup group = group(GroupIdentity.world(0, 3, 0));
		AtomicBoolean done = new AtomicBoolean();
		Thread.ofPlatform().daemon().start(() -> {
			while (!done.get()) {
				group.barrier();
			}
		});
		try {
			int running = 0;
			while (running < 100) {
				RankTrace trace = RankTrace.take(0, 0, List.of(group), FlightRecorder.CAPACITY);
				CallRecord call = trace.group(Failure.WORLD).running();
				if (call != null) {
					assertThat(call.durationNanos(trace.takenNanos())).isNotNegative();
					running++;
				}
			}
		}
		finally {
			done.set(true);
		}
	}

	private static DefaultProcessGroup group(GroupIdentity identity) {
		return new DefaultProcessGroup(identity, new IdleBackend("tcp"), new FailureLatch(),
				new SimulatedControl(3).join(0, new RecordedControlEvents()), Timeouts.DEFAULTS);
	}

}
