package io.tutti.service.group;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

import io.tutti.ElasticEvent;
import io.tutti.Failure;
import io.tutti.engine.RankAssignment;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class GenerationsTest {

	private static final Failure LOST = Failure.outside(Failure.Kind.PEER_LOST, Failure.WORLD, List.of(1),
			"its connection closed");

	private final Generations generations = new Generations(RankAssignment.onOneHost(2, 3, 29500));

	@Test
	void theAssignmentIsTheLaunchersBeforeTheFirstGenerationAndThatOfTheLastOneAfterwards() {
		assertThat(this.generations.assignment().rank()).isEqualTo(2);
		form(0, 2, 3, List.of(0, 1, 2), false);
		form(1, 1, 2, List.of(0, 2), true);
		assertThat(this.generations.assignment()).isEqualTo(RankAssignment.onOneHost(1, 2, 29500));
		lose(1);
		assertThat(this.generations.assignment().worldSize()).isEqualTo(2);
	}

	@Test
	void aLossIsReportedWithItsRanksAndLaterWithItsRecovery() {
		form(0, 2, 3, List.of(0, 1, 2), false);
		assertThat(this.generations.history().reforms()).isZero();
		lose(0);
		assertThat(this.generations.history().awaited()).containsExactly(1);
		assertThat(this.generations.history().losses()).singleElement().satisfies((loss) -> {
			assertThat(loss.ranks()).containsExactly(1);
			assertThat(loss.recoveredAfter()).isNull();
		});
		form(1, 1, 2, List.of(0, 2), true);
		GroupHistory history = this.generations.history();
		assertThat(history.awaited()).isEmpty();
		assertThat(history.ranks()).containsExactly(0, 2);
		assertThat(history.reforms()).isOne();
		assertThat(history.reforming()).isEqualTo(Duration.ofMillis(300));
		assertThat(history.losses()).singleElement()
			.satisfies((loss) -> assertThat(loss.recoveredAfter()).isEqualTo(Duration.ofMillis(300)));
	}

	@Test
	void listenersLearnOfEachGenerationAndOfTheOneBeforeThem() {
		List<Long> formed = new ArrayList<>();
		List<Long> broken = new ArrayList<>();
		form(0, 2, 3, List.of(0, 1, 2), false);
		this.generations.onFormed((group) -> formed.add(group.world().generation()));
		this.generations.onBroken((each) -> broken.add(each.trace().generation()));
		lose(0);
		form(4, 1, 2, List.of(0, 2), true);
		assertThat(formed).containsExactly(0L, 4L);
		assertThat(broken).containsExactly(0L);
	}

	@Test
	void aListenerThatFailsKeepsNoOtherOneFromTheFailure() {
		List<Failure> broken = new ArrayList<>();
		this.generations.onBroken((_) -> {
			throw new IllegalStateException("made to fail");
		});
		this.generations.onBroken((each) -> broken.add(each.failure()));
		this.generations.fail(LOST);
		assertThat(broken).containsExactly(LOST);
	}

	@Test
	void theCallsOfTheLastFourBrokenGenerationsAreKept() {
		for (int generation = 0; generation < 6; generation++) {
			form(generation, 2, 3, List.of(0, 1, 2), generation > 0);
			lose(generation);
		}
		assertThat(this.generations.kept()).extracting((each) -> each.trace().generation())
			.containsExactly(2L, 3L, 4L, 5L);
		assertThat(this.generations.history().losses()).hasSize(6);
	}

	private void form(long generation, int rank, int worldSize, List<Integer> slots, boolean again) {
		this.generations.form(new FakeGroup(rank, worldSize, generation),
				RankAssignment.onOneHost(rank, worldSize, 29500),
				new ElasticEvent.Formed(generation, slots, Duration.ofMillis(300), again));
	}

	private void lose(long generation) {
		this.generations.lose(new ElasticEvent.Lost(generation, List.of(1), Instant.EPOCH, LOST));
	}

}
