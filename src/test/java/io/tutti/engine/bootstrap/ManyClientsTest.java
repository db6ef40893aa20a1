package io.tutti.engine.bootstrap;

import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadFactory;
import java.util.stream.IntStream;

import com.sun.management.ThreadMXBean;
import io.tutti.engine.control.ControlMessage.Roster;
import io.tutti.engine.control.Membership;
import io.tutti.engine.control.MessageCodec;
import io.tutti.engine.control.PeerAddress;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Isolated;

import static org.assertj.core.api.Assertions.assertThat;

/** Rendezvous with a thousand ranks. Alone, since it looks for a thread by its name. */
@Timeout(120)
@Isolated
class ManyClientsTest {

	private static final int RANKS = 1000;

	private final ThreadFactory virtual = Thread.ofVirtual().factory();

	@Test
	void rankZeroAllocatesInProportionToAThousandRanks() {
		form(RANKS / 8);
		long few = form(RANKS / 8);
		long many = form(RANKS);
		assertThat(many).as("bytes for %d ranks, where %d took %d", RANKS, RANKS / 8, few).isLessThan(2 * 8 * few);
	}

	/** Returns the bytes that rank 0's control thread allocated. */
	private long form(int worldSize) {
		TestWorld world = new TestWorld(worldSize);
		CompletableFuture<Membership> zero = world.joining(0, TestWorld.SETTINGS);
		List<RawRank> ranks = new ArrayList<>();
		try (world) {
			try {
				List<CompletableFuture<RawRank>> joins = IntStream.range(1, worldSize)
					.mapToObj((rank) -> join(new RawRank(world.port), rank, worldSize, ranks))
					.toList();
				world.members.put(0, TestWorld.join(zero));
				long allocated = allocatedBytes("tutti-r0-control");
				Roster roster = TestWorld.join(joins.getFirst()).await(Roster.class);
				assertThat(roster.peers()).extracting(PeerAddress::rank)
					.containsExactlyElementsOf(IntStream.range(0, worldSize).boxed().toList());
				ByteBuffer frame = MessageCodec.encode(roster);
				joins.stream().skip(1).forEach((join) -> TestWorld.join(join).awaitExactly(frame));
				return allocated;
			}
			finally {
				// First, since rank 0 waits for ranks that have not left.
				ranks.forEach(RawRank::close);
			}
		}
	}

	private CompletableFuture<RawRank> join(RawRank raw, int rank, int worldSize, List<RawRank> ranks) {
		ranks.add(raw);
		return CompletableFuture.supplyAsync(() -> raw.join(rank, worldSize),
				(task) -> this.virtual.newThread(task).start());
	}

	private static long allocatedBytes(String threadName) {
		ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
		for (long id : threads.getAllThreadIds()) {
			var thread = threads.getThreadInfo(id);
			if (thread != null && thread.getThreadName().equals(threadName)) {
				return threads.getThreadAllocatedBytes(id);
			}
		}
		throw new AssertionError("no thread " + threadName);
	}

}
