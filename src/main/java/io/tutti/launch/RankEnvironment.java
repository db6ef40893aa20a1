package io.tutti.launch;

import java.util.List;
import java.util.Map;
import java.util.UUID;

import io.tutti.engine.bootstrap.HostIdentity;

/**
 * Builds the environment of launched ranks: adds torchrun's variables and removes
 * leftovers of other launchers that would take precedence.
 */
final class RankEnvironment {

	/** Process id of the launcher, so that ranks end soon after their launcher. */
	static final String LAUNCHER_PID = "TUTTI_LAUNCHER_PID";

	/** Host of that process id: a rank's own environment may reach other hosts. */
	static final String LAUNCHER_HOST = "TUTTI_LAUNCHER_HOST";

	static final String RANK = "RANK";

	/** Set by torchrun, and by this launcher for programs that expect torchrun. */
	static final String RUN_ID = "TORCHELASTIC_RUN_ID";

	/** Set if the launcher runs on a terminal and shows live lines. */
	static final String LIVE_LINES = "TUTTI_LIVE_LINES";

	private static final List<String> OTHER_LAUNCHERS = List.of("OMPI_", "PMI_", "PMIX_", "PET_", "MPI_LOCAL");

	private static final List<String> LEFTOVERS = List.of("SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID",
			PodIndexRankResolver.JOB_INDEX, PodIndexRankResolver.STATEFUL_SET_INDEX, "TUTTI_RANK", "TUTTI_WORLD_SIZE",
			"TUTTI_WORLDSIZE", "TUTTI_MASTER_ADDRESS", "TUTTI_MASTERADDRESS", "TUTTI_MASTER_PORT", "TUTTI_MASTERPORT",
			"TORCHELASTIC_USE_AGENT_STORE", "TUTTI_ELASTIC_MINRANKS", ElasticRanks.LEAST, "TUTTI_ELASTIC_MAXRANKS",
			ElasticRanks.MOST, ElasticRanks.ENDPOINTS);

	private final LaunchPlan plan;

	/** The variables that only the ranks of this launcher have. */
	private final Map<String, String> ofLauncher;

	private final boolean showsLiveLines;

	/**
	 * Creates the environment for a plan's ranks.
	 * @param showsLiveLines whether the launcher's console redraws lines in place
	 */
	RankEnvironment(LaunchPlan plan, boolean showsLiveLines) {
		this.plan = plan;
		this.showsLiveLines = showsLiveLines;
		String runId = (plan.nodes() == 1) ? UUID.randomUUID().toString()
				: plan.masterAddress() + ":" + plan.masterPort();
		this.ofLauncher = Map.of(LAUNCHER_PID, Long.toString(ProcessHandle.current().pid()), RUN_ID, runId);
	}

	/** The processes that the ranks have started, of every start of the group. */
	StartedProcesses startedProcesses() {
		return new StartedProcesses(this.ofLauncher, LAUNCHER_PID, RUN_ID);
	}

	/**
	 * Converts the launcher's environment into that of a rank.
	 * @param environment a copy of the launcher's environment, modified in place
	 * @param ports the ports of the job
	 * @param restart how often the group has been restarted
	 */
	void apply(Map<String, String> environment, int localRank, JobPorts ports, int restart) {
		environment.keySet().removeIf((name) -> OTHER_LAUNCHERS.stream().anyMatch(name::startsWith));
		environment.keySet().removeAll(LEFTOVERS);
		put(environment, RANK, this.plan.rank(localRank));
		put(environment, "WORLD_SIZE", this.plan.worldSize());
		put(environment, "LOCAL_RANK", localRank);
		put(environment, "LOCAL_WORLD_SIZE", this.plan.ranksPerNode());
		put(environment, "GROUP_RANK", this.plan.nodeRank());
		put(environment, "GROUP_WORLD_SIZE", this.plan.nodes());
		put(environment, "MASTER_ADDR", this.plan.masterAddress());
		put(environment, "MASTER_PORT", ports.rendezvous());
		put(environment, "TORCHELASTIC_RESTART_COUNT", restart);
		put(environment, "TORCHELASTIC_MAX_RESTARTS", this.plan.maxRestarts());
		environment.putAll(this.ofLauncher);
		put(environment, LAUNCHER_HOST, HostIdentity.ofThisHost());
		environment.remove(LIVE_LINES);
		if (this.showsLiveLines) {
			environment.put(LIVE_LINES, "true");
		}
		ElasticRanks elastic = this.plan.elastic();
		if (elastic != null) {
			put(environment, ElasticRanks.LEAST, elastic.least());
			put(environment, ElasticRanks.MOST, elastic.most());
			environment.put(ElasticRanks.ENDPOINTS, String.join(",", ports.endpoints()));
		}
		environment.putAll(this.plan.environment());
	}

	private static void put(Map<String, String> environment, String name, Object value) {
		environment.put(name, value.toString());
	}

}
