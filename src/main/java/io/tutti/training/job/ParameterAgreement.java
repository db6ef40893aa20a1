package io.tutti.training.job;

import java.util.List;

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
	 * Compares the fingerprints of the ranks' jobs. A collective call.
	 * @throws ReplicaMismatchException if a rank's job differs from rank 0's; the message
	 * names the rank and the value
	 */
	static void require(ProcessGroup group, JobFingerprint asked) {
		List<String> all = TextGather.allGather(group, asked.text());
		JobFingerprint first = JobFingerprint.parse(all.getFirst());
		for (int rank = 1; rank < all.size(); rank++) {
			int other = rank;
			JobFingerprint its = JobFingerprint.parse(all.get(rank));
			first.firstDifference(its).ifPresent((value) -> {
				throw new ReplicaMismatchException("the ranks run different jobs: rank " + other + " has "
						+ its.describe(value.name()) + ", but rank 0 has " + value);
			});
		}
	}

}
