package io.tutti.engine.elastic;

import java.util.List;

import io.tutti.Failure;
import io.tutti.engine.elastic.FormationMessage.Formation;
import io.tutti.engine.elastic.FormationMessage.Member;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class FormationTest {

	private final Formation formation = new Formation(3, "f3",
			List.of(new Member(0, "a0", "host"), new Member(2, "a2", "host"), new Member(4, "a4", "host")));

	@Test
	void aRankIsNamedWithItsSlotWhereTheyDiffer() {
		assertThat(this.formation.nameOf(0)).isEqualTo("rank 0");
		assertThat(this.formation.nameOf(1)).isEqualTo("rank 1 (launched as 2)");
	}

	@Test
	void aFailureNamesTheSlotsOfItsRanksWhereTheyDiffer() {
		assertThat(this.formation.withSlots(failure(0, 1, 2)).detail())
			.isEqualTo("cut (rank 1 was launched as 2, rank 2 was launched as 4)");
		assertThat(this.formation.withSlots(failure(0))).isEqualTo(failure(0));
		assertThat(this.formation.withSlots(failure(-1, 7))).isEqualTo(failure(-1, 7));
	}

	private static Failure failure(Integer... ranks) {
		return Failure.outside(Failure.Kind.PEER_LOST, Failure.WORLD, List.of(ranks), "cut");
	}

}
