package io.tutti.engine.backend;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;

import io.tutti.engine.CollectiveException;
import io.tutti.engine.DataType;
import io.tutti.engine.PeerLostException;
import io.tutti.engine.ProcessGroup;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.RankThreads.Outcome;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A rank that is lost, to those who wait for its messages through shared memory, where
 * only the control plane tells.
 */
@Timeout(60)
class SharedLossTest {

	private static final Duration LIMIT = Duration.ofSeconds(30);

	@ParameterizedTest
	@EnumSource
	void aLostRankFailsWhoeverWaitsForItsMessages(SimulatedLossTest.Wait wait) throws Exception {
		try (SharedWorld world = new SharedWorld(3, Timeouts.DEFAULTS, SharedWorld.Ways.IN_PLACE)) {
			List<Outcome<Void>> outcomes = RankThreads.outcomes(3, LIMIT, (rank) -> {
				ProcessGroup group = world.group(rank);
				int peer = 2;
				if (rank == peer) {
					for (int other = 0; other < peer; other++) {
						group.send(MemorySegment.ofArray(new byte[9]), DataType.INT8, other, 1);
					}
					group.barrier();
					world.kill(peer);
					return null;
				}
				group.receive(MemorySegment.ofArray(new byte[9]), DataType.INT8, peer, 1);
				group.barrier();
				SimulatedLossTest.call(group, wait, peer);
				return null;
			});
			for (int rank = 0; rank < 2; rank++) {
				Throwable failure = outcomes.get(rank).failure();
				Throwable cause = (failure instanceof CollectiveException) ? failure : failure.getCause();
				assertThat(cause).isInstanceOf(PeerLostException.class);
				assertThat(((CollectiveException) cause).failure().ranks()).containsExactly(2);
			}
		}
	}

}
