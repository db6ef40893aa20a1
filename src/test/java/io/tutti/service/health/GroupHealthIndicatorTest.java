package io.tutti.service.health;

import java.util.List;
import java.util.Map;

import io.tutti.GroupState;
import io.tutti.engine.control.PeerStatus;
import io.tutti.service.group.FakeGenerations;
import io.tutti.service.group.FakeGroup;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(20)
class GroupHealthIndicatorTest {

	@Test
	void theHealthIsOfOneGenerationEvenIfTheNextOneFormsMeanwhile() {
		FakeGenerations generations = new FakeGenerations(2, 3);
		FakeGroup first = new FakeGroup(2, 3, 0);
		first.addPeer(new PeerStatus(0, "10.0.0.1", 41000, 12, 250, PeerStatus.State.LEFT));
		first.duringPeers(() -> generations.form(new FakeGroup(1, 2, 1), List.of(1, 2)));
		generations.form(first, List.of(0, 1, 2));
		assertThat(new GroupHealthIndicator(generations.lifecycle()).health().getDetails())
			.isEqualTo(Map.of("state", GroupState.READY, "rank", 2, "worldSize", 3, "leftRanks", List.of(0), "problem",
					"rank 0 has left; no collective can run without it"));
	}

}
