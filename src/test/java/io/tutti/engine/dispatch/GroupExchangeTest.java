package io.tutti.engine.dispatch;

import java.time.Duration;

import io.tutti.CollectiveTimeoutException;
import io.tutti.GroupState;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.SimulatedWorld;
import io.tutti.engine.spi.Agreement;
import io.tutti.engine.spi.Deadline;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@Timeout(30)
class GroupExchangeTest {

	@Test
	void aDeadlineThatHasPassedBreaksTheGroupOnEveryRank() {
		Deadline passed = Deadline.after(Duration.ofNanos(1));
		while (!passed.expired()) {
			Thread.onSpinWait();
		}
		try (SimulatedWorld world = new SimulatedWorld(2, Timeouts.DEFAULTS)) {
			assertThatExceptionOfType(CollectiveTimeoutException.class)
				.isThrownBy(() -> new GroupExchange(world.group(0), Agreement.ALLOCATE).allGather(new byte[1], passed));
			Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> world.group(1).state() == GroupState.BROKEN);
		}
	}

}
