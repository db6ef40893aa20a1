package io.tutti.training.checkpoint;

import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;

import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.backend.RankThreads.Outcome;
import io.tutti.engine.backend.SimulatedWorld;
import io.tutti.engine.javacpp.NativeLibraryPreparation;
import io.tutti.training.ModelTensors;
import io.tutti.training.ReplicaMismatchException;
import io.tutti.training.SharesLibtorch;
import io.tutti.training.TrainingDevice;
import io.tutti.training.internal.TensorMemory;
import org.bytedeco.pytorch.Adam;
import org.bytedeco.pytorch.AdamOptions;
import org.bytedeco.pytorch.LinearImpl;
import org.bytedeco.pytorch.Optimizer;
import org.bytedeco.pytorch.SGD;
import org.bytedeco.pytorch.SGDOptions;
import org.bytedeco.pytorch.Scalar;
import org.bytedeco.pytorch.global.torch;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Three ranks, of which rank 2 takes the state of rank 1.
 */
@Timeout(60)
@SharesLibtorch
class StateBroadcastTest {

	private static final int RANKS = 3;

	private static final Duration LIMIT = Duration.ofSeconds(30);

	@BeforeAll
	static void prepare() {
		NativeLibraryPreparation.prepare();
	}

	@Test
	void everyRankTakesParametersOptimizerAndRecordOfTheSource() throws Exception {
		List<Outcome<String>> outcomes = outcomes(4, false);
		assertThat(outcomes).allSatisfy((outcome) -> assertThat(outcome.failure()).isNull());
		assertThat(outcomes.stream().map(Outcome::value)).containsOnly(outcomes.get(1).value());
		assertThat(outcomes.getFirst().value()).startsWith("of rank 1");
	}

	@Test
	void aModelOfAnotherShapeIsRefusedOnEveryRankByName() throws Exception {
		assertRefused(outcomes(5, false), "weight");
	}

	@Test
	void anotherOptimizerIsRefusedOnEveryRankByName() throws Exception {
		assertRefused(outcomes(4, true), "SGD");
	}

	private static void assertRefused(List<Outcome<String>> outcomes, String word) {
		assertThat(outcomes)
			.allSatisfy((outcome) -> assertThat(outcome.failure()).isInstanceOf(ReplicaMismatchException.class)
				.hasMessageContaining(
						"rank 2 cannot take the state of rank 1, whose model or optimizer differs: it has ")
				.hasMessageContaining(word));
	}

	/**
	 * What each rank has afterwards: the record, the digest, and the bytes of the
	 * weights.
	 * @param inputs of the layer of rank 2; those of the others are 4
	 * @param otherOptimizer whether rank 2 has SGD; the others have Adam
	 */
	private static List<Outcome<String>> outcomes(int inputs, boolean otherOptimizer) throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(RANKS, Timeouts.DEFAULTS.withCollective(LIMIT))) {
			return RankThreads.outcomes(RANKS, LIMIT, (rank) -> {
				try (LinearImpl layer = new LinearImpl((rank == 2) ? inputs : 4, 2);
						Optimizer optimizer = (rank == 2 && otherOptimizer)
								? new SGD(layer.parameters(), new SGDOptions(0.1))
								: new Adam(layer.parameters(), new AdamOptions(0.1))) {
					layer.forward(torch.full(new long[] { 1, (rank == 2) ? inputs : 4 }, new Scalar(rank + 1.0)))
						.sum()
						.backward();
					optimizer.step();
					byte[] before = weights(layer);
					try (ModelState state = new ModelState(ModelTensors.of(layer), optimizer, TrainingDevice.CPU)) {
						StateBroadcast broadcast = new StateBroadcast(state, () -> state);
						String kept = broadcast.from(1, world.group(rank), "of rank " + rank, String.class);
						return kept + Arrays.toString(broadcast.digest(kept)) + Arrays.toString(weights(layer));
					}
					catch (ReplicaMismatchException ex) {
						assertThat(weights(layer)).as("unchanged").isEqualTo(before);
						throw ex;
					}
				}
			});
		}
	}

	private static byte[] weights(LinearImpl layer) {
		return TensorMemory.of(layer.weight()).toArray(ValueLayout.JAVA_BYTE);
	}

}
