package io.tutti.launch;

import java.util.Objects;

import org.jspecify.annotations.Nullable;

/**
 * Resolves tasks started by Slurm's {@code srun}. Rank 0 is on the first host of the
 * step, so no master address needs to be set. A step on one host uses loopback.
 */
final class SlurmRankResolver extends RankResolver {

	private static final String RANK = "SLURM_PROCID";

	/** Slurm sets it for every step. */
	private static final String STEP_SIZE = "SLURM_STEP_NUM_TASKS";

	/** In a step with {@code --preserve-env} it is that of the allocation. */
	private static final String SIZE = "SLURM_NTASKS";

	private static final String NODE_LIST = "SLURM_STEP_NODELIST";

	private static final String TASKS_PER_NODE = "SLURM_STEP_TASKS_PER_NODE";

	private static final String NODE = "SLURM_NODEID";

	SlurmRankResolver() {
		super("slurm", RANK, SIZE);
	}

	@Override
	String worldSizeVariable(Variables variables) {
		return variables.has(STEP_SIZE) ? STEP_SIZE : super.worldSizeVariable(variables);
	}

	@Override
	@Nullable String disregarded(Variables variables) {
		if (variables.has("SLURM_JOB_ID") && !variables.has("SLURM_STEP_ID")) {
			return variables.show(RANK) + " ignored: SLURM_STEP_ID is not set, so this is the batch script of job "
					+ variables.peek("SLURM_JOB_ID") + " and not one of its tasks; start tasks with srun";
		}
		return null;
	}

	/** Whether Slurm's task has the rank and the world size of another set. */
	boolean isTask(Variables variables, String rankVariable, String worldSizeVariable) {
		return variables.has(RANK) && disregarded(variables) == null
				&& Objects.equals(variables.peek(RANK), variables.peek(rankVariable))
				&& Objects.equals(variables.peek(worldSizeVariable(variables)), variables.peek(worldSizeVariable));
	}

	@Override
	DeclaredLocalRank local(Variables variables, int worldSize) {
		Integer localWorldSize = tasksOnThisNode(variables, worldSize);
		int bound = (localWorldSize != null) ? localWorldSize : worldSize;
		Integer localRank = variables.number("SLURM_LOCALID", 0, bound - 1, bound + " tasks are on this node");
		return new DeclaredLocalRank(localRank, localWorldSize);
	}

	private static @Nullable Integer tasksOnThisNode(Variables variables, int worldSize) {
		SlurmNodeList nodes = nodes(variables);
		if (nodes != null && nodes.count() == 1) {
			return worldSize;
		}
		String counts = variables.text(TASKS_PER_NODE);
		Integer node = variables.number(NODE, 0, WholeNumber.MAX_WORLD_SIZE - 1, "the node of the step");
		return (counts != null && node != null) ? SlurmTaskCounts.at(TASKS_PER_NODE, counts, node, worldSize) : null;
	}

	@Override
	@Nullable String masterAddress(Variables variables) {
		SlurmNodeList nodes = nodes(variables);
		if (nodes == null || nodes.count() == 1) {
			return super.masterAddress(variables);
		}
		String given = super.masterAddress(variables);
		if (given != null && !given.equals(nodes.first())) {
			variables.note(nodes.first() + ", the first host of " + variables.show(NODE_LIST)
					+ ", is not the rendezvous host: " + variables.show(MASTER_ADDR)
					+ " takes precedence; unset it to use the node list");
		}
		return (given != null) ? given : nodes.first();
	}

	private static @Nullable SlurmNodeList nodes(Variables variables) {
		String text = variables.text(NODE_LIST);
		return (text != null) ? SlurmNodeList.parse(NODE_LIST, text) : null;
	}

}
