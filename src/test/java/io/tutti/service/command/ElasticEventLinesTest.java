package io.tutti.service.command;

import java.time.Instant;
import java.util.List;

import io.tutti.ElasticEvent;
import io.tutti.Failure;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(20)
class ElasticEventLinesTest {

	private static ElasticEvent.Lost lost(String detail, List<Integer> slots) {
		return new ElasticEvent.Lost(2, slots, Instant.EPOCH,
				Failure.outside(Failure.Kind.PEER_LOST, "world", List.of(1), detail));
	}

	@Test
	void aLossNamesTheLostRanks() {
		assertThat(ElasticEventLines.line(lost("its connection closed", List.of(1))))
			.isEqualTo("lost ranks [1] of generation 2: its connection closed");
	}

	@Test
	void aFailureWithoutALostRankBreaksTheGeneration() {
		assertThat(ElasticEventLines.line(lost("rank 1 has not answered for 2504 ms", List.of())))
			.isEqualTo("generation 2 broke: rank 1 has not answered for 2504 ms");
	}

}
