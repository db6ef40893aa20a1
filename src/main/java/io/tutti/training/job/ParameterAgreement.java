package io.tutti.training.job;

import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.stream.IntStream;

import io.tutti.CollectiveException;
import io.tutti.Failure;
import io.tutti.ProcessGroup;
import io.tutti.training.ReplicaMismatchException;
import io.tutti.training.checkpoint.JobFingerprint;
import io.tutti.training.internal.TextGather;

/**
 * Checks that all ranks hold the same parameters and options.
 */
final class ParameterAgreement {

	private ParameterAgreement() {
	}

	/**
	 * Compares the hash of the parameters with the other ranks'. A collective call.
	 * @return the hashes by rank, all equal
	 * @throws ReplicaMismatchException if the hashes differ
	 */
	static List<String> require(ProcessGroup group, String sha256) {
		List<String> hashes = TextGather.allGather(group, sha256);
		for (int rank = 1; rank < hashes.size(); rank++) {
			if (!hashes.get(rank).equals(hashes.getFirst())) {
				throw new ReplicaMismatchException("the replicas differ after training: the parameters' SHA-256 is "
						+ hashes.get(rank) + " on rank " + rank + ", but " + hashes.getFirst() + " on rank 0");
			}
		}
		return hashes;
	}

	/**
	 * As {@link #require(ProcessGroup, JobFingerprint)}, for a group that ranks may have
	 * joined whose job differs: only these fail.
	 * @param joins whether this rank has not trained in an earlier generation of the
	 * group
	 * @throws ReplicaMismatchException on such a rank, which must not leave before the
	 * others ({@link #awaitEnd}); and on every rank if all are new
	 * @throws CollectiveException on the others, as after the loss of these ranks, so
	 * that they continue
	 */
	static void requireOfMembers(ProcessGroup group, JobFingerprint asked, boolean joins) {
		int[] joined = new int[group.worldSize()];
		group.allGather(new int[] { joins ? 1 : 0 }, joined);
		OptionalInt member = IntStream.range(0, joined.length).filter((rank) -> joined[rank] == 0).findFirst();
		if (member.isEmpty()) {
			require(group, asked);
			return;
		}
		Map<Integer, String> foreign = new TreeMap<>();
		asked.differencesByRank(group, member.getAsInt())
			.forEach((rank, difference) -> foreign.put(rank,
					"rank " + rank + " joined a job that differs from its own: it " + difference));
		String own = foreign.get(group.rank());
		if (own != null) {
			throw new ReplicaMismatchException(own + ". Start it with the options of the others");
		}
		if (!foreign.isEmpty()) {
			throw CollectiveException.of(group.rank(), group.worldSize(), Failure.outside(Failure.Kind.PEER_LOST,
					group.name(), List.copyOf(foreign.keySet()), String.join("; ", foreign.values())), null);
		}
	}

	/**
	 * Waits until the other ranks of an elastic group have thrown the same exception or
	 * have left it. The group aborts with the first exception that ends a rank, and a
	 * rank that was still in the collective call that leads to it would end with that
	 * abort.
	 */
	static void awaitEnd(ProcessGroup group) {
		try {
			group.barrier();
		}
		catch (CollectiveException ex) {
			// They have left, or a rank is lost.
		}
	}

	/**
	 * Compares the fingerprints of the ranks' jobs. A collective call.
	 * @throws ReplicaMismatchException if a rank's job differs from rank 0's; the message
	 * names the rank and the value
	 */
	static void require(ProcessGroup group, JobFingerprint asked) {
		asked.differencesByRank(group, 0).forEach((rank, difference) -> {
			throw new ReplicaMismatchException("the ranks run different jobs: rank " + rank + " " + difference);
		});
	}

}
