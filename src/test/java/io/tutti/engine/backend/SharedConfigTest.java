package io.tutti.engine.backend;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

import io.tutti.CollectiveListener;
import io.tutti.FreePort;
import io.tutti.ReduceOp;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.Timeouts;
import io.tutti.engine.algorithm.AlgorithmOverrides;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * All ranks use the same transport and algorithms.
 */
@Timeout(60)
class SharedConfigTest {

	private static final Duration LIMIT = Duration.ofSeconds(30);

	private static EngineSettings settings(SharedConfig sharedConfig) {
		EngineSettings defaults = EngineSettings.DEFAULTS;
		return new EngineSettings(defaults.backend(), "shared-config", "a token", -1, null, null, null, 0,
				defaults.congestionControl(), sharedConfig, Timeouts.DEFAULTS.withCollective(LIMIT), null);
	}

	@Test
	void rankZerosConfigurationAppliesToAllAndADifferenceIsReported() throws Exception {
		Queue<String> warnings = new ConcurrentLinkedQueue<>();
		int port = FreePort.next();
		List<String> algorithms = RankThreads.run(2, LIMIT, (rank) -> {
			SharedConfig own = (rank == 0)
					? new SharedConfig(TransportChoice.TCP, AlgorithmOverrides.from("all-reduce=halving-doubling"))
					: SharedConfig.DEFAULT;
			try (Engine engine = Engine.join(RankAssignment.onOneHost(rank, 2, port), settings(own),
					new CollectiveListener() {
						@Override
						public void warn(String message) {
							warnings.add(message);
						}
					})) {
				engine.world().allReduce(new float[] { 1 }, ReduceOp.SUM);
				String used = engine.world().recorder().latest(1).getFirst().algorithm();
				engine.world().barrier();
				return used + " over " + engine.world().transport();
			}
		});
		assertThat(algorithms).containsOnly("halving-doubling over tcp");
		assertThat(warnings).singleElement()
			.asString()
			.contains("rank 1 was set up for auto, rank 0 for tcp with all-reduce=halving-doubling");
	}

	@Test
	void theTextFormIsParsedBack() {
		SharedConfig sharedConfig = new SharedConfig(TransportChoice.SHM,
				AlgorithmOverrides.from("broadcast=chain, all-reduce=ring"));
		assertThat(SharedConfig.parse(sharedConfig.toString())).hasToString("shm;true;all-reduce=ring,broadcast=chain");
		SharedConfig without = new SharedConfig(TransportChoice.AUTO, AlgorithmOverrides.NONE, false);
		assertThat(SharedConfig.parse(without.toString()).crossMemoryAttach()).isFalse();
		assertThat(SharedConfig.parse(SharedConfig.DEFAULT.toString())).hasToString(SharedConfig.DEFAULT.toString());
	}

	@Test
	void anInvalidTextIsRejectedByName() {
		assertThatIllegalArgumentException().isThrownBy(() -> SharedConfig.parse("carrier pigeon;true;"))
			.withMessageContaining("carrier pigeon");
		assertThatIllegalArgumentException().isThrownBy(() -> SharedConfig.parse("tcp;true;all-reduce=luck"))
			.withMessageContaining("luck");
		assertThatIllegalArgumentException().isThrownBy(() -> SharedConfig.parse("")).withMessageContaining("expected");
	}

}
