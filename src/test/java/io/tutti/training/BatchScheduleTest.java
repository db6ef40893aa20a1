package io.tutti.training;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

import io.tutti.training.internal.Share;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

@Timeout(30)
class BatchScheduleTest {

	@ParameterizedTest
	@CsvSource({ "1437, 32, 1", "1437, 32, 4", "1437, 64, 3", "10, 3, 5", "7, 100, 2", "5, 1, 13",
			"2000000000, 2147483647, 3" })
	void theSharesOfAllRanksCoverTheEpochInOrder(int samples, int globalBatch, int worldSize) {
		BatchSchedule schedule = new BatchSchedule(samples, globalBatch, worldSize, 1);
		int position = 0;
		for (int step = 0; step < schedule.stepsPerEpoch(); step++) {
			int start = position;
			for (int rank = 0; rank < worldSize; rank++) {
				Share share = schedule.share(step, rank);
				assertThat(share.from()).isEqualTo(position);
				assertThat(share.size()).isBetween(schedule.batchSize(step) / worldSize,
						schedule.batchSize(step) / worldSize + 1);
				position = share.to();
			}
			assertThat(position - start).isEqualTo(schedule.batchSize(step)).isBetween(1, globalBatch);
		}
		assertThat(position).isEqualTo(samples);
	}

	@Test
	void anEpochsOrderHoldsEverySampleOnce() {
		int[] order = new BatchSchedule(1000, 32, 4, 9).order(5);
		assertThat(order).isNotEqualTo(IntStream.range(0, 1000).toArray());
		Arrays.sort(order);
		assertThat(order).containsExactly(IntStream.range(0, 1000).toArray());
	}

	@Test
	void theOrderDependsOnSeedAndEpochButNotOnTheWorldSize() {
		int[] order = new BatchSchedule(1000, 32, 4, 9).order(5);
		assertThat(new BatchSchedule(1000, 64, 1, 9).order(5)).isEqualTo(order);
		assertThat(new BatchSchedule(1000, 32, 4, 9).order(6)).isNotEqualTo(order);
		assertThat(new BatchSchedule(1000, 32, 4, 10).order(5)).isNotEqualTo(order);
	}

	@ParameterizedTest
	@CsvSource({ "0, 1, 1", "1, 0, 1", "1, 1, 0", "-5, 1, 1" })
	void aScheduleNeedsSamplesABatchAndRanks(int samples, int globalBatch, int worldSize) {
		assertThatIllegalArgumentException().isThrownBy(() -> new BatchSchedule(samples, globalBatch, worldSize, 1))
			.withMessageContaining("must be at least 1, got " + samples);
	}

	@ParameterizedTest
	@CsvSource({ "10, 3, 0, 'step in the epoch must be in 0..2, got 3'",
			"10, -1, 0, 'step in the epoch must be in 0..2, got -1'", "10, 0, 2, 'rank must be in 0..1, got 2'",
			"10, 0, -1, 'rank must be in 0..1, got -1'", "9, 2, 1, 'must have 10 samples, got 9'" })
	void wrongArgumentsGiveNoSamples(int orderLength, int stepInEpoch, int rank, String problem) {
		BatchSchedule schedule = new BatchSchedule(10, 4, 2, 1);
		RankWeights weights = new RankWeights(List.of(1.0, 3.0));
		int[] order = new int[orderLength];
		assertThatIllegalArgumentException().isThrownBy(() -> schedule.samples(order, stepInEpoch, rank))
			.withMessageContaining(problem);
		assertThatIllegalArgumentException().isThrownBy(() -> weights.samples(schedule, order, stepInEpoch, rank))
			.withMessageContaining(problem);
	}

}
