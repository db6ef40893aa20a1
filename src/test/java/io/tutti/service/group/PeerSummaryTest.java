package io.tutti.service.group;

import java.util.List;

import io.tutti.engine.control.PeerStatus;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class PeerSummaryTest {

	@Test
	void roundTripsAndSilenceAreThoseOfTheRanksThatAreUp() {
		assertThat(PeerSummary.of(List.of(peer(0, PeerStatus.State.UP), peer(2, PeerStatus.State.LOST))))
			.isEqualTo(new PeerSummary(1, 0, 0, 1, 250L, 250L, 0, 12L));
	}

	@Test
	void withoutRankZeroThereAreNone() {
		assertThat(PeerSummary.of(List.of(peer(0, PeerStatus.State.LOST), peer(2, PeerStatus.State.UNKNOWN))))
			.isEqualTo(new PeerSummary(0, 1, 0, 1, null, null, null, null));
	}

	private static PeerStatus peer(int rank, PeerStatus.State state) {
		return new PeerStatus(rank, "10.0.0.1", 41000, 12, 250, state);
	}

}
