package io.tutti.service.command;

import java.util.Arrays;
import java.util.BitSet;

import io.tutti.BadConfigurationException;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.engine.transport.shm.ShmTransport;
import io.tutti.engine.transport.tcp.TcpTransport;

/**
 * Refuses groups whose ranks the peers cannot imitate.
 */
final class ComparableGroup {

	/** Words of glibc's {@code cpu_set_t}. */
	private static final int CORE_WORDS = 16;

	private ComparableGroup() {
	}

	/**
	 * Whether the peers may use shared memory, or TCP only.
	 * @param transport transport of this system's ranks
	 * @throws BadConfigurationException if it is neither
	 */
	static boolean sharedMemory(String transport) {
		return switch (transport) {
			case ShmTransport.NAME -> true;
			case TcpTransport.NAME -> false;
			default -> throw new BadConfigurationException("The ranks use the transport " + transport,
					"--against compares shared memory and TCP only: add --transport tcp, or omit tutti.mpi.library or"
							+ " --against");
		};
	}

	/**
	 * Checks that all ranks may use the same cores. Rank 0 starts the peers, which are
	 * therefore confined to its cores. A collective call.
	 * @param cores cores that this rank may use, empty if unknown
	 * @throws BadConfigurationException on every rank, if those of any differ
	 */
	static void requireSameCores(ProcessGroup world, BitSet cores) {
		long[] own = Arrays.copyOf(cores.toLongArray(), CORE_WORDS);
		long[] ofRank0 = own.clone();
		world.broadcast(ofRank0, 0);
		long[] different = { Arrays.equals(own, ofRank0) ? 0 : 1 };
		world.allReduce(different, ReduceOp.MAX);
		if (different[0] != 0) {
			throw new BadConfigurationException(
					"The ranks may use different cores, and the peers would share the "
							+ BitSet.valueOf(ofRank0).cardinality() + " of rank 0",
					"Start the ranks with --bind-to none (mpirun), -bind-to none (mpiexec), --cpu-bind=none (srun) or"
							+ " by ./tutti launch, in one container");
		}
	}

}
