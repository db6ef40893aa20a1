package io.tutti.service.metrics;

import java.lang.foreign.MemorySegment;

import io.tutti.Collective;
import io.tutti.DataType;
import io.tutti.ReduceOp;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.IdleBackend;
import io.tutti.engine.dispatch.CallRecord;
import io.tutti.engine.dispatch.DefaultProcessGroup;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.service.group.FakeGroup;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/**
 * The bandwidth of one call of 12 bytes in all, on each rank of three.
 */
@Timeout(30)
class RecentSpeedsTest {

	private static final int RANKS = 3;

	private static final long BYTES = 4 * RANKS;

	private static final MemorySegment WHOLE = MemorySegment.ofArray(new byte[(int) BYTES]);

	private static final MemorySegment PART = MemorySegment.ofArray(new byte[(int) BYTES / RANKS]);

	@ParameterizedTest
	@EnumSource(value = Collective.class, names = { "BARRIER", "SCAN", "EXCLUSIVE_SCAN" },
			mode = EnumSource.Mode.EXCLUDE)
	void everyRankCountsTheWholeBuffer(Collective collective) {
		for (int rank = 0; rank < RANKS; rank++) {
			try (DefaultProcessGroup group = group(rank)) {
				call(group, collective);
				requireWhole(group, collective);
			}
		}
	}

	@Test
	void everyRankCountsTheWholeBufferOfAnUnevenCall() {
		long[] counts = { 5, 0, 7 };
		for (int rank = 0; rank < RANKS; rank++) {
			MemorySegment part = MemorySegment.ofArray(new byte[(int) counts[rank]]);
			try (DefaultProcessGroup group = group(rank)) {
				group.gather(part, WHOLE, counts, DataType.UINT8, 0);
				requireWhole(group, Collective.GATHER);
			}
			try (DefaultProcessGroup group = group(rank)) {
				group.scatter(WHOLE, part, counts, DataType.UINT8, 0);
				requireWhole(group, Collective.SCATTER);
			}
		}
	}

	private static void call(DefaultProcessGroup group, Collective collective) {
		MemorySegment receive = MemorySegment.ofArray(new byte[(int) BYTES]);
		switch (collective) {
			case ALL_REDUCE -> group.allReduce(WHOLE, DataType.INT8, ReduceOp.SUM);
			case REDUCE -> group.reduce(WHOLE, receive, DataType.INT8, ReduceOp.SUM, 0);
			case BROADCAST -> group.broadcast(WHOLE, DataType.INT8, 0);
			case ALL_GATHER -> group.allGather(PART, WHOLE, DataType.INT8);
			case REDUCE_SCATTER -> group.reduceScatter(WHOLE, PART, DataType.INT8, ReduceOp.SUM);
			case GATHER -> group.gather(PART, WHOLE, DataType.INT8, 0);
			case SCATTER -> group.scatter(WHOLE, PART, DataType.INT8, 0);
			case ALL_TO_ALL -> group.allToAll(WHOLE, receive, DataType.INT8);
			case BARRIER, SCAN, EXCLUSIVE_SCAN -> throw new IllegalArgumentException();
		}
	}

	private static void requireWhole(DefaultProcessGroup group, Collective collective) {
		CallRecord call = group.recorder().latest(1).getFirst();
		double seconds = call.durationNanos(call.endedNanos()) / 1e9;
		assertThat(new RecentSpeeds().algorithmBandwidth(group, collective)).as("rank %s", group.rank())
			.isEqualTo(BYTES / seconds, within(1e-6 * BYTES / seconds));
	}

	private static DefaultProcessGroup group(int rank) {
		return new DefaultProcessGroup(GroupIdentity.world(rank, RANKS, 0), new IdleBackend("none"), new FailureLatch(),
				new FakeGroup(rank, RANKS, 0), Timeouts.DEFAULTS);
	}

}
