package io.tutti.launch;

import java.util.Map;

import org.jspecify.annotations.Nullable;

/**
 * What to launch: the ranks of this machine, one of {@code nodes}.
 *
 * @param command what each rank runs
 * @param ranksPerNode ranks on each machine
 * @param nodes number of machines
 * @param nodeRank index of this machine, from 0
 * @param masterAddress host of the rendezvous
 * @param masterPort port of the rendezvous, {@code null} to pick a free one
 * @param maxRestarts how often the whole group is restarted after a failure; of an
 * elastic job, how often single ranks of this machine are restarted in all
 * @param elastic bounds of a job that continues without lost ranks, {@code null} for one
 * that ends with the first of them
 * @param environment variables that every rank gets besides the launcher's own
 */
public record LaunchPlan(LaunchedCommand command, int ranksPerNode, int nodes, int nodeRank, String masterAddress,
		@Nullable Integer masterPort, int maxRestarts, @Nullable ElasticRanks elastic,
		Map<String, String> environment) {

	public LaunchPlan {
		requireInRange("--nproc-per-node", ranksPerNode, 1, WholeNumber.MAX_WORLD_SIZE);
		requireInRange("--nnodes", nodes, 1, WholeNumber.MAX_WORLD_SIZE / ranksPerNode);
		requireInRange("--node-rank", nodeRank, 0, nodes - 1);
		requireInRange("--max-restarts", maxRestarts, 0, Integer.MAX_VALUE);
		if (masterPort != null) {
			requireInRange("--master-port", masterPort, 1, WholeNumber.MAX_PORT);
		}
		if (nodes > 1 && masterPort == null) {
			throw new IllegalArgumentException("--nnodes " + nodes + " needs a master port that all machines know");
		}
		if (elastic != null) {
			requireElastic(elastic, ranksPerNode * nodes, nodes);
		}
		environment = Map.copyOf(environment);
	}

	int worldSize() {
		return this.ranksPerNode * this.nodes;
	}

	/** The world rank of a local rank. */
	int rank(int localRank) {
		return this.nodeRank * this.ranksPerNode + localRank;
	}

	private static void requireElastic(ElasticRanks elastic, int worldSize, int nodes) {
		requireInRange("--min-ranks", elastic.least(), 1, worldSize);
		requireInRange("--max-ranks", elastic.most(), worldSize, WholeNumber.MAX_WORLD_SIZE);
		if (nodes > 1 && elastic.endpoints().isEmpty()) {
			throw new IllegalArgumentException(
					"--min-ranks with --nnodes " + nodes + " needs tutti.elastic.endpoints (variable "
							+ ElasticRanks.ENDPOINTS + "), one host:port for each rank");
		}
	}

	private static void requireInRange(String option, int value, int least, int most) {
		if (value < least || value > most) {
			throw new IllegalArgumentException(option + " must be in " + least + ".." + most + ", got " + value);
		}
	}

}
