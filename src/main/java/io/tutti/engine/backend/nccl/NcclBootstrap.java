package io.tutti.engine.backend.nccl;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.Supplier;

import io.tutti.BackendUnavailableException;
import io.tutti.engine.device.DeviceException;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.failure.FailureReporter;
import io.tutti.engine.spi.GroupBackend;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.GroupSetupException;
import io.tutti.engine.spi.MetadataExchange;

/**
 * Creates the communicator of a group. Every rank reports whether it can use NCCL, and
 * rank 0 adds the unique id. The communicator is created only if all ranks can. The id is
 * sent over authenticated connections.
 */
public final class NcclBootstrap {

	private static final byte READY = 1;

	private static final byte UNABLE = 0;

	/** Leaves room for the status byte. */
	private static final int MAX_REASON_BYTES = MetadataExchange.MAX_BYTES - 1;

	private final Supplier<NcclLibrary> loading;

	private final int localRank;

	/**
	 * Creates the bootstrap of a rank.
	 * @param localRank index of this process on its host, which selects its device
	 */
	public NcclBootstrap(int localRank) {
		this(NcclLibrary::load, localRank);
	}

	NcclBootstrap(Supplier<NcclLibrary> loading, int localRank) {
		this.loading = loading;
		this.localRank = localRank;
	}

	/**
	 * Creates the backend of a group on top of one for host memory. Every rank of the
	 * group calls it.
	 * @param identity group and rank
	 * @param host the group's calls on host memory; also exchanges the communicator's id
	 * @param latch the group's failure state
	 * @param reporter reports a failure of NCCL to the other ranks
	 * @param exchange exchanges bytes among the ranks of the group
	 * @param deadline limit for the creation; the time left after the exchange is the
	 * default limit of later calls
	 * @return the group's calls on both kinds of memory
	 * @throws BackendUnavailableException if a rank cannot use NCCL; names the first such
	 * rank
	 */
	public GroupBackend over(GroupIdentity identity, GroupBackend host, FailureLatch latch, FailureReporter reporter,
			MetadataExchange exchange, Deadline deadline) {
		NcclLibrary library = null;
		int devices = 0;
		byte[] status;
		try {
			library = this.loading.get();
			devices = library.runtime().deviceCount();
			status = ready(library, identity.rank());
		}
		catch (BackendUnavailableException | DeviceException | NcclException ex) {
			status = unable(String.valueOf(ex.getMessage()));
		}
		UniqueId id = agree(identity, status, exchange, deadline);
		if (library == null) {
			throw new IllegalStateException("a rank without NCCL was taken for ready");
		}
		RankPlacement place = RankPlacement.ofLocalRank(identity.rank(), identity.worldSize(), this.localRank, devices);
		RankCommunicator communicator = RankCommunicator.create(library, id, place, null, deadline.remaining());
		return new NcclGroupBackend(identity, host, latch, reporter, library.runtime(), communicator);
	}

	private static byte[] ready(NcclLibrary library, int rank) {
		byte[] status = new byte[1 + ((rank == 0) ? UniqueId.BYTES : 0)];
		status[0] = READY;
		if (rank == 0) {
			System.arraycopy(RankCommunicator.newId(library).asBytes(), 0, status, 1, UniqueId.BYTES);
		}
		return status;
	}

	private static byte[] unable(String reason) {
		byte[] text = reason.getBytes(StandardCharsets.UTF_8);
		byte[] status = new byte[1 + Math.min(text.length, MAX_REASON_BYTES)];
		status[0] = UNABLE;
		System.arraycopy(text, 0, status, 1, status.length - 1);
		return status;
	}

	private static UniqueId agree(GroupIdentity identity, byte[] status, MetadataExchange exchange, Deadline deadline) {
		byte[][] statuses;
		try {
			statuses = exchange.allGather(status, deadline);
		}
		catch (IOException ex) {
			throw new GroupSetupException(identity, "the ranks could not agree on a communicator", ex);
		}
		for (int rank = 0; rank < statuses.length; rank++) {
			if (statuses[rank].length == 0 || statuses[rank][0] != READY) {
				throw new BackendUnavailableException(NcclGroupBackend.NAME,
						"rank " + identity.members().get(rank) + " cannot use it: " + reason(statuses[rank]),
						"Give every rank a GPU and NCCL, or use the profile tcp")
					.onRank(identity.worldRank(), identity.jobSize());
			}
		}
		return UniqueId.fromBytes(Arrays.copyOfRange(statuses[0], 1, statuses[0].length));
	}

	private static String reason(byte[] status) {
		return (status.length < 2) ? "it said nothing"
				: new String(status, 1, status.length - 1, StandardCharsets.UTF_8);
	}

}
