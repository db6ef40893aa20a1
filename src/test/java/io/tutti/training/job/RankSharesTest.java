package io.tutti.training.job;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.backend.SimulatedWorld;
import io.tutti.training.BatchSchedule;
import io.tutti.training.SharesLibtorch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

@Timeout(120)
@SharesLibtorch
class RankSharesTest {

	private static final Duration LIMIT = Duration.ofSeconds(100);

	private static final Timeouts TIMEOUTS = Timeouts.DEFAULTS.withCollective(Duration.ofSeconds(30));

	@Test
	void sharesAreParsed() {
		assertThat(RankShares.parse("measured")).isEqualTo(RankShares.MEASURED);
		assertThat(RankShares.parse("1, 2.5").weights().weights()).containsExactly(1.0, 2.5);
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "fast", "1,", "1;2", "-1,2", "0,0", "NaN,1" })
	void otherTextsAreRefused(String text) {
		assertThatIllegalArgumentException().isThrownBy(() -> RankShares.parse(text)).withMessageContaining("weight");
	}

	@Test
	void aNumberOfWeightsThatIsNotTheWorldSizeIsRefused() {
		assertThatIllegalArgumentException().isThrownBy(() -> RankShares.parse("1,2").requireWorldSize(3))
			.withMessageContaining("got 2 for 3 ranks");
	}

	/** Rank 1 is three times as fast. */
	@Test
	void measuredSharesFollowTheSpeedsAndCoverEveryBatch() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(2, TIMEOUTS)) {
			BatchSchedule schedule = new BatchSchedule(64, 32, 2, 1);
			int[] order = schedule.order(0);
			List<List<int[]>> byRank = RankThreads.run(2, LIMIT, (rank) -> {
				BatchShares shares = new BatchShares(world.group(rank), schedule, RankShares.MEASURED);
				List<int[]> taken = new ArrayList<>();
				for (int step = 0; step <= BatchShares.WARM_UP + BatchShares.MEASURED; step++) {
					int[] samples = shares.samples(order, step % 2);
					taken.add(samples);
					shares.record(samples.length, samples.length * ((rank == 0) ? 3000L : 1000L));
				}
				return taken;
			});
			assertThat(byRank.get(0).get(0)).hasSize(16);
			assertThat(byRank.get(0).get(BatchShares.WARM_UP + BatchShares.MEASURED - 1)).hasSize(16);
			assertThat(byRank.get(0).getLast()).hasSize(8);
			assertThat(byRank.get(1).getLast()).hasSize(24);
			int last = (BatchShares.WARM_UP + BatchShares.MEASURED) % 2;
			assertThat(IntStream.concat(Arrays.stream(byRank.get(0).getLast()), Arrays.stream(byRank.get(1).getLast())))
				.containsExactly(Arrays.stream(order, 32 * last, 32 * last + 32).boxed().toArray(Integer[]::new));
		}
	}

	@Test
	void sharesStayEqualIfARankHadNoSamples() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(2, TIMEOUTS)) {
			BatchSchedule schedule = new BatchSchedule(1, 1, 2, 1);
			assertThat(RankThreads.run(2, LIMIT, (rank) -> {
				BatchShares shares = new BatchShares(world.group(rank), schedule, RankShares.MEASURED);
				for (int step = 0; step < BatchShares.WARM_UP + BatchShares.MEASURED; step++) {
					shares.record(rank, 1000);
				}
				return shares.samples(new int[1], 0).length;
			})).containsExactly(0, 1);
		}
	}

	/** A rank with weight 0 takes part in every step without samples. */
	@ParameterizedTest
	@ValueSource(strings = { "1,3", "0,1", "measured" })
	void theScoreIsThatOfEqualShares(String weights) throws Exception {
		double equal = score(RankShares.EQUAL);
		assertThat(score(RankShares.parse(weights))).isCloseTo(equal, org.assertj.core.data.Offset.offset(0.02));
	}

	private static double score(RankShares shares) throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(2, TIMEOUTS)) {
			List<TrainingSummary> summaries = RankThreads.run(2, LIMIT,
					(rank) -> new TrainingJob(world.group(rank), ClassifierJob.defaults().task(),
							new TrainingOptions(2, 32, 42, 1, null, null, shares), TrainingListener.NONE)
						.run());
			assertThat(summaries.get(1).parameterSha256()).isEqualTo(summaries.get(0).parameterSha256());
			return summaries.getFirst().testScore();
		}
	}

}
