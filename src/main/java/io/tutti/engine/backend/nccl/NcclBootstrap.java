package io.tutti.engine.backend.nccl;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.function.Supplier;

import io.tutti.BackendUnavailableException;
import io.tutti.CollectiveException;
import io.tutti.ExitCode;
import io.tutti.Failure;
import io.tutti.engine.control.RecordCodec;
import io.tutti.engine.device.DeviceException;
import io.tutti.engine.failure.DepartedRanks;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.failure.FailureReporter;
import io.tutti.engine.spi.GroupBackend;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.GroupSetupException;
import io.tutti.engine.spi.MetadataExchange;
import io.tutti.engine.spi.RankException;
import org.jspecify.annotations.Nullable;

/**
 * Creates the communicator of a group. Every rank reports whether it can use NCCL, and
 * rank 0 adds the unique id. The communicator is created only if all ranks can. The id is
 * sent over authenticated connections.
 */
public final class NcclBootstrap {

	/**
	 * Whether a rank can use NCCL.
	 *
	 * @param id the unique id from rank 0; empty from other ranks
	 * @param problem why the rank cannot use NCCL; {@code null} if it can
	 */
	public record Readiness(byte[] id, @Nullable String problem) {
	}

	private static final byte[] NO_ID = {};

	/**
	 * How long a creation may last after a rank has left, which may have completed it.
	 */
	private static final Duration AFTER_DEPARTURE = Duration.ofSeconds(2);

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
	 * rank; or if the ranks' devices are inconsistent, such as two ranks on one device
	 * @throws CollectiveException if the group or NCCL fails, a rank leaves the group, or
	 * the deadline passes
	 */
	public GroupBackend over(GroupIdentity identity, GroupBackend host, FailureLatch latch, FailureReporter reporter,
			MetadataExchange exchange, Deadline deadline) {
		NcclLibrary library = null;
		int devices = 0;
		Readiness status;
		try {
			library = this.loading.get();
			devices = library.runtime().deviceCount();
			status = new Readiness((identity.rank() == 0) ? RankCommunicator.newId(library).asBytes() : NO_ID, null);
		}
		catch (BackendUnavailableException | DeviceException | NcclException ex) {
			status = new Readiness(NO_ID, MetadataExchange.truncated(String.valueOf(ex.getMessage())));
		}
		UniqueId id = agree(identity, status, exchange, deadline);
		if (library == null) {
			throw new IllegalStateException("a rank without NCCL was taken for ready");
		}
		RankPlacement place = RankPlacement.ofLocalRank(identity.rank(), identity.worldSize(), this.localRank, devices);
		try {
			RankCommunicator communicator = RankCommunicator.create(library, id, place, null, deadline.remaining(),
					() -> latch.failure() != null || latch.departed().isAbsentFor(left(latch), AFTER_DEPARTURE));
			return new NcclGroupBackend(identity, host, latch, reporter, library.runtime(), communicator);
		}
		catch (NcclException | DeviceException ex) {
			throw unformed(identity, latch, reporter, deadline, ex);
		}
	}

	/**
	 * The group's failure if there is one, since that of NCCL may be its consequence;
	 * otherwise that of this rank, which is reported to the others.
	 */
	private static RuntimeException unformed(GroupIdentity identity, FailureLatch latch, FailureReporter reporter,
			Deadline deadline, RankException seen) {
		NcclException ofNccl = (seen instanceof NcclException ex) ? ex : null;
		if (ofNccl != null && ofNccl.result() == NcclResult.INVALID_USAGE) {
			reporter.report(identity.aborted(seen.problem()).withExitCode(ExitCode.ABORTED));
			return new BackendUnavailableException(NcclGroupBackend.NAME, seen.problem(),
					"Give every rank a GPU of its own, or use the profile tcp", seen)
				.onRank(identity.worldRank(), identity.jobSize());
		}
		NcclException.Reason reason = (ofNccl != null) ? ofNccl.reason() : NcclException.Reason.ERROR;
		Failure obstacle = obstacle(identity, latch, reason);
		if (obstacle != null) {
			return NcclGroupBackend.following(identity, obstacle, seen);
		}
		Failure own = (reason != NcclException.Reason.TIMEOUT) ? identity.aborted(seen.problem())
				: new Failure(Failure.Kind.TIMEOUT, identity.name(), -1, null, List.of(), seen.problem(),
						deadline.elapsed(), deadline.timeout());
		reporter.report(own);
		return identity.exception(own, seen);
	}

	private static @Nullable Failure obstacle(GroupIdentity identity, FailureLatch latch, NcclException.Reason reason) {
		Failure verdict = (reason == NcclException.Reason.ERROR) ? latch.await(NcclGroupBackend.VERDICT_WAIT)
				: latch.failure();
		int left = left(latch);
		return (verdict != null || left < 0) ? verdict : Failure.outside(DepartedRanks.failureOf(identity.name()),
				identity.name(), List.of(left), latch.departed().describe(left));
	}

	/** The lowest rank that has left the group, -1 for none. */
	private static int left(FailureLatch latch) {
		return latch.departed().missingFrom(Long.MAX_VALUE);
	}

	private static UniqueId agree(GroupIdentity identity, Readiness status, MetadataExchange exchange,
			Deadline deadline) {
		List<Readiness> statuses;
		try {
			statuses = RecordCodec.allGather(Readiness.class, status, exchange, deadline);
		}
		catch (IOException ex) {
			throw new GroupSetupException(identity, "the ranks could not agree on a communicator", ex);
		}
		for (int rank = 0; rank < statuses.size(); rank++) {
			String problem = statuses.get(rank).problem();
			if (problem != null) {
				throw new BackendUnavailableException(NcclGroupBackend.NAME,
						"rank " + identity.members().get(rank) + " cannot use it: " + problem,
						"Give every rank a GPU and NCCL, or use the profile tcp")
					.onRank(identity.worldRank(), identity.jobSize());
			}
		}
		return UniqueId.fromBytes(statuses.get(0).id());
	}

}
