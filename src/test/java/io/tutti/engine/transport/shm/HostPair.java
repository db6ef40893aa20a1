package io.tutti.engine.transport.shm;

import java.time.Duration;
import java.util.List;

import io.tutti.CollectiveListener;
import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.GroupIdentity;

/**
 * Two ranks of one process that map each other's shared memory.
 */
public final class HostPair {

	private static final Duration LIMIT = Duration.ofSeconds(30);

	private HostPair() {
	}

	/** The memory of each rank. */
	static List<HostMemory> memories(SharedMemorySettings settings) throws Exception {
		LocalExchange exchange = new LocalExchange(2);
		return RankThreads.run(2, LIMIT, (rank) -> HostHandshake.establish(identity(rank), exchange.rank(rank),
				settings, CollectiveListener.NONE, Deadline.after(LIMIT)));
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
