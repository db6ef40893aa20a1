package io.tutti.training.job;

import java.time.Duration;
import java.util.List;

import io.tutti.Failure;
import io.tutti.PeerLostException;
import io.tutti.ProcessGroup;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.backend.SimulatedWorld;
import io.tutti.training.ReplicaMismatchException;
import io.tutti.training.checkpoint.JobFingerprint;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

class ParameterAgreementTest {

	private static final Duration LIMIT = Duration.ofSeconds(20);

	private static JobFingerprint job(double rate) {
		return new JobFingerprint(List.of(new JobFingerprint.Value("learning rate", "" + rate)));
	}

	@Test
	void aRankThatJoinsAnotherJobFailsAloneAndTheOthersContinueWithoutIt() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(3, Timeouts.DEFAULTS.withCollective(LIMIT))) {
			RankThreads.run(3, LIMIT, (rank) -> {
				ProcessGroup group = world.group(rank);
				if (rank == 0) {
					assertThatExceptionOfType(ReplicaMismatchException.class)
						.isThrownBy(() -> ParameterAgreement.requireOfMembers(group, job(0.5), true))
						.withMessageContaining("rank 0 joined a job that differs from its own")
						.withMessageContaining("it has learning rate 0.5, but rank 1 has learning rate 0.05");
					return null;
				}
				assertThatExceptionOfType(PeerLostException.class)
					.isThrownBy(() -> ParameterAgreement.requireOfMembers(group, job(0.05), rank == 2))
					.satisfies((ex) -> assertThat(ex.failure().ranks()).containsExactly(0))
					.satisfies((ex) -> assertThat(ex.failure().kind()).isEqualTo(Failure.Kind.PEER_LOST));
				group.close();
				return null;
			});
		}
	}

	@Test
	void everyRankFailsWhereFoundersDiffer() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(2, Timeouts.DEFAULTS.withCollective(LIMIT))) {
			RankThreads.run(2, LIMIT, (rank) -> {
				assertThatExceptionOfType(ReplicaMismatchException.class)
					.isThrownBy(() -> ParameterAgreement.requireOfMembers(world.group(rank), job(rank), true))
					.withMessageContaining("the ranks run different jobs: rank 1 has learning rate 1.0");
				return null;
			});
		}
	}

	@Test
	void aValueThatOneRankLacksIsADifference() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(2, Timeouts.DEFAULTS.withCollective(LIMIT))) {
			RankThreads.run(2, LIMIT, (rank) -> {
				JobFingerprint job = (rank == 0) ? job(1) : job(1).with("augment", true);
				assertThatExceptionOfType(ReplicaMismatchException.class)
					.isThrownBy(() -> ParameterAgreement.require(world.group(rank), job))
					.withMessageContaining("rank 1 has augment true, but rank 0 has no augment");
				return null;
			});
		}
	}

	@Test
	void equalJobsContinue() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(2, Timeouts.DEFAULTS.withCollective(LIMIT))) {
			RankThreads.run(2, LIMIT, (rank) -> {
				ParameterAgreement.requireOfMembers(world.group(rank), job(1).with("a=b", "c\nd"), rank == 0);
				return null;
			});
		}
	}

}
