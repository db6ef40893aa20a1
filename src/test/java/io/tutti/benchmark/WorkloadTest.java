package io.tutti.benchmark;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

import io.tutti.DataType;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.backend.SimulatedWorld;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The check accepts every correct result, even though sums and products over many ranks
 * can exceed the range of a small type.
 */
@Timeout(60)
class WorkloadTest {

	private static final int RANKS = 13;

	@ParameterizedTest
	@EnumSource
	void everyOperationIsCorrectInEveryTypeWithEveryOperator(Operation operation) throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(RANKS, Timeouts.DEFAULTS)) {
			RankThreads.run(RANKS, Duration.ofSeconds(50), (rank) -> {
				requireRight(world.group(rank), operation);
				return null;
			});
		}
	}

	@Test
	void aSumOverMoreRanksThanTheLargestElementIsCorrect() throws Exception {
		int ranks = Byte.MAX_VALUE + 3;
		try (SimulatedWorld world = new SimulatedWorld(ranks, Timeouts.DEFAULTS)) {
			RankThreads.run(ranks, Duration.ofSeconds(50), (rank) -> {
				try (Buffers buffers = new Buffers(world.group(rank), BufferKind.PRIVATE, ranks)) {
					for (ReduceOp op : List.of(ReduceOp.SUM, ReduceOp.AVERAGE)) {
						assertThat(
								new Workload(world.group(rank), Operation.ALL_REDUCE, DataType.INT8, op, ranks, buffers)
									.check())
							.as("%s", op)
							.isZero();
					}
				}
				return null;
			});
		}
	}

	private static void requireRight(ProcessGroup group, Operation operation) {
		for (DataType type : DataType.values()) {
			try (Buffers buffers = new Buffers(group, BufferKind.PRIVATE, 100L * RANKS * type.bytes())) {
				for (ReduceOp op : Stream.of(ReduceOp.values()).filter((any) -> any.appliesTo(type)).toList()) {
					Workload workload = new Workload(group, operation, type, op, 100L * RANKS * type.bytes(), buffers);
					assertThat(workload.check()).as("%s of %s by %s", operation, type, op).isZero();
				}
			}
		}
	}

}
