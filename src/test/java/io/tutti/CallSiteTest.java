package io.tutti;

import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.SimulatedWorld;
import io.tutti.engine.backend.mpi.Communicator;
import io.tutti.engine.dispatch.DefaultProcessGroup;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The call site in a flight record, seen from a package outside of the engine.
 */
@Timeout(30)
class CallSiteTest {

	@Test
	void aCallThroughTheMpiApiRecordsTheLineOfTheApplication() {
		try (SimulatedWorld world = new SimulatedWorld(1, Timeouts.DEFAULTS)) {
			DefaultProcessGroup group = world.group(0);
			group.recorder().recordSites(true);
			Communicator.over(group).barrier();
			assertThat(group.recorder().latest(1).getFirst().site())
				.startsWith("CallSiteTest.aCallThroughTheMpiApiRecordsTheLineOfTheApplication:");
		}
	}

}
