package io.tutti.engine.control;

import java.util.Objects;
import java.util.stream.IntStream;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class PeerTableTest {

	private final PeerTable peers = new PeerTable(4, System::nanoTime);

	@Test
	void theStateOfTheOtherRanksIsUnknownOnceRankZeroIsGone() {
		this.peers
			.roster(IntStream.range(0, 4).mapToObj((rank) -> new PeerAddress(rank, "10.0.0.1", 41000, "a")).toList());
		this.peers.gone(3, PeerStatus.State.LEFT);
		assertThat(this.peers.others(1)).extracting(PeerStatus::state)
			.containsExactly(PeerStatus.State.UP, PeerStatus.State.UP, PeerStatus.State.LEFT);
		this.peers.gone(0, PeerStatus.State.LOST);
		assertThat(this.peers.others(1)).extracting(PeerStatus::state)
			.containsExactly(PeerStatus.State.LOST, PeerStatus.State.UNKNOWN, PeerStatus.State.LEFT);
		assertThat(Objects.requireNonNull(this.peers.known(2)).state()).isEqualTo(PeerStatus.State.UNKNOWN);
	}

}
