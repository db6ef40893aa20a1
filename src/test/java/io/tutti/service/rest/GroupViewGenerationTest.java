package io.tutti.service.rest;

import java.util.List;

import io.tutti.engine.control.PeerStatus;
import io.tutti.service.group.FakeGenerations;
import io.tutti.service.group.FakeGroup;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(20)
class GroupViewGenerationTest {

	@Test
	void aViewIsOfOneGenerationEvenIfTheNextOneFormsMeanwhile() {
		FakeGenerations generations = new FakeGenerations(2, 3);
		FakeGroup first = new FakeGroup(2, 3, 0);
		first.addPeer(new PeerStatus(0, "10.0.0.1", 41000, 12, 250, PeerStatus.State.LEFT));
		first.duringPeers(() -> generations.form(new FakeGroup(1, 2, 1), List.of(1, 2)));
		generations.form(first, List.of(0, 1, 2));
		GroupView view = GroupView.of(generations.lifecycle(), "tcp");
		assertThat(view.problem()).isEqualTo("rank 0 has left; no collective can run without it");
		assertThat(view.rank()).isEqualTo(2);
		assertThat(view.worldSize()).isEqualTo(3);
		assertThat(view.generation()).isZero();
	}

}
