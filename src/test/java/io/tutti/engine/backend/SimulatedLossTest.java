package io.tutti.engine.backend;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;

import io.tutti.engine.CollectiveException;
import io.tutti.engine.DataType;
import io.tutti.engine.GroupState;
import io.tutti.engine.Message;
import io.tutti.engine.PeerLostException;
import io.tutti.engine.ProcessGroup;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.RankThreads.Outcome;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A rank that is lost, to those who wait for its messages and to the groups that hold it.
 */
@Timeout(60)
class SimulatedLossTest {

	private static final Duration LIMIT = Duration.ofSeconds(30);

	/** Ways to wait for a message. */
	enum Wait {

		RECEIVE, RECEIVE_ANY, RECEIVE_ASYNC, SEND, SEND_RECEIVE

	}

	static void call(ProcessGroup group, Wait wait, int peer) throws Exception {
		MemorySegment large = MemorySegment.ofArray(new byte[1_000_000]);
		MemorySegment other = MemorySegment.ofArray(new byte[1_000_000]);
		switch (wait) {
			case RECEIVE -> group.receive(large, DataType.INT8, peer, 0);
			case RECEIVE_ANY -> group.receiveAny(large, DataType.INT8, Message.ANY_SOURCE, 0);
			case RECEIVE_ASYNC -> {
				CompletableFuture<Message> coming = group.receiveAsync(large, DataType.INT8, peer, 0);
				coming.handle((message, failure) -> failure).get(20, TimeUnit.SECONDS);
				coming.getNow(null);
			}
			case SEND -> group.send(large, DataType.INT8, peer, 0);
			case SEND_RECEIVE -> group.sendReceive(large, peer, other, peer, DataType.INT8, 0);
		}
	}

	@ParameterizedTest
	@EnumSource
	void aLostRankFailsWhoeverWaitsForItsMessages(Wait wait) throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(3, Timeouts.DEFAULTS)) {
			List<Outcome<Void>> outcomes = RankThreads.outcomes(3, LIMIT, (rank) -> {
				ProcessGroup group = world.group(rank);
				int peer = 2;
				if (rank == peer) {
					for (int other = 0; other < peer; other++) {
						group.send(MemorySegment.ofArray(new byte[9]), DataType.INT8, other, 1);
					}
					group.barrier();
					world.kill(peer);
					return null;
				}
				group.receive(MemorySegment.ofArray(new byte[9]), DataType.INT8, peer, 1);
				group.barrier();
				call(group, wait, peer);
				return null;
			});
			for (int rank = 0; rank < 2; rank++) {
				Throwable failure = outcomes.get(rank).failure();
				Throwable cause = (failure instanceof CollectiveException) ? failure : failure.getCause();
				assertThat(cause).isInstanceOf(PeerLostException.class);
				assertThat(((CollectiveException) cause).failure().ranks()).containsExactly(2);
			}
		}
	}

	@Test
	void aLostRankBreaksTheGroupsThatHoldItAndNoOther() throws Exception {
		try (SimulatedWorld world = new SimulatedWorld(4, Timeouts.DEFAULTS)) {
			ConcurrentHashMap<Integer, ProcessGroup> halves = new ConcurrentHashMap<>();
			CyclicBarrier killed = new CyclicBarrier(4);
			RankThreads.run(4, LIMIT, (rank) -> {
				ProcessGroup half = world.group(rank).split(rank % 2, rank);
				halves.put(rank, half);
				half.barrier();
				killed.await(20, TimeUnit.SECONDS);
				if (rank == 3) {
					world.kill(3);
					return null;
				}
				while (world.group(rank).failure() == null) {
					Thread.onSpinWait();
				}
				if (rank % 2 == 0) {
					half.barrier();
				}
				return null;
			});
			assertThat(halves.get(0).state()).isEqualTo(GroupState.READY);
			assertThat(halves.get(2).state()).isEqualTo(GroupState.READY);
			assertThat(halves.get(1).state()).isEqualTo(GroupState.BROKEN);
		}
	}

}
