package io.tutti.engine.transport.shm;

import java.time.Duration;
import java.util.List;

import io.tutti.CollectiveListener;
import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.GroupIdentity;

/**
 * Ranks of one process, mostly two, that map each other's shared memory.
 */
public final class HostPair {

	private static final Duration LIMIT = Duration.ofSeconds(30);

	private HostPair() {
	}

	/** The memory of each of two ranks. */
	static List<HostMemory> memories(SharedMemorySettings settings) throws Exception {
		return memories(2, settings);
	}

	/** The memory of each rank. */
	static List<HostMemory> memories(int ranks, SharedMemorySettings settings) throws Exception {
		LocalExchange exchange = new LocalExchange(ranks);
		return RankThreads.run(ranks, LIMIT, (rank) -> HostHandshake.establish(GroupIdentity.world(rank, ranks, 0),
				exchange.rank(rank), settings, CollectiveListener.NONE, Deadline.after(LIMIT)));
	}

	/** The transport of each rank, which may read the memory of the other one. */
	public static List<ShmTransport> transports(SharedMemorySettings settings) throws Exception {
		return memories(settings).stream()
			.map((memory) -> new ShmTransport(identity(memory.self()), new FailureLatch(), memory, settings, true,
					CollectiveListener.NONE))
			.toList();
	}

	private static GroupIdentity identity(int rank) {
		return GroupIdentity.world(rank, 2, 0);
	}

}
