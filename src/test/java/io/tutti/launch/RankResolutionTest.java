package io.tutti.launch;

import java.util.LinkedHashMap;
import java.util.Map;

import io.tutti.engine.RankAssignment;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@Timeout(10)
class RankResolutionTest {

	@Test
	void aProcessWithoutLauncherIsRankZeroOfOne() {
		ResolvedRank resolved = resolve(Map.of("HOME", "/root"));
		assertThat(resolved.assignment()).isEqualTo(RankAssignment.single());
		assertThat(resolved.source()).isEqualTo("none");
		assertThat(resolved.used()).isEmpty();
		assertThat(resolved.ignored()).isEmpty();
		assertThat(resolved.conflicts()).isEmpty();
		assertThat(resolved.generation()).isEqualTo(-1);
	}

	@Test
	void openMpiVariablesAreResolved() {
		ResolvedRank resolved = resolve(variables("OMPI_COMM_WORLD_RANK", "3", "OMPI_COMM_WORLD_SIZE", "4",
				"OMPI_COMM_WORLD_LOCAL_RANK", "1", "OMPI_COMM_WORLD_LOCAL_SIZE", "2", "MASTER_ADDR", "host0"));
		assertThat(resolved.assignment()).isEqualTo(new RankAssignment(3, 4, 1, 2, "host0", 29500));
		assertThat(resolved.source()).isEqualTo("open-mpi");
		assertThat(resolved.used()).containsOnlyKeys("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
				"OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE", "MASTER_ADDR");
	}

	@Test
	void mpichVariablesAreResolved() {
		ResolvedRank resolved = resolve(variables("PMI_RANK", "1", "PMI_SIZE", "4", "MPI_LOCALRANKID", "1",
				"MPI_LOCALNRANKS", "4", "MASTER_PORT", "4000"));
		assertThat(resolved.assignment()).isEqualTo(new RankAssignment(1, 4, 1, 4, "127.0.0.1", 4000));
		assertThat(resolved.source()).isEqualTo("pmi");
	}

	@Test
	void torchrunVariablesAreResolved() {
		ResolvedRank resolved = resolve(variables("RANK", "5", "WORLD_SIZE", "8", "LOCAL_RANK", "1", "LOCAL_WORLD_SIZE",
				"4", "MASTER_ADDR", "::1", "MASTER_PORT", "4001", "TORCHELASTIC_RESTART_COUNT", "2"));
		assertThat(resolved.assignment()).isEqualTo(new RankAssignment(5, 8, 1, 4, "::1", 4001));
		assertThat(resolved.source()).isEqualTo("torchrun");
		assertThat(resolved.generation()).isEqualTo(2);
		assertThat(resolved.ignored()).isEmpty();
	}

	@Test
	void theRendezvousAvoidsThePortOfTorchrunsAgent() {
		Map<String, String> environment = variables("RANK", "0", "WORLD_SIZE", "2", "MASTER_ADDR", "127.0.0.1",
				"MASTER_PORT", "4001", "TORCHELASTIC_USE_AGENT_STORE", "True");
		ResolvedRank resolved = resolve(environment);
		assertThat(resolved.assignment().masterPort()).isEqualTo(4002);
		assertThat(resolved.used()).containsEntry("TORCHELASTIC_USE_AGENT_STORE", "True");
		assertThat(resolved.ignored()).singleElement().asString().contains("4001", "agent", "4002");
		environment.put("TORCHELASTIC_USE_AGENT_STORE", "False");
		assertThat(resolve(environment).assignment().masterPort()).isEqualTo(4001);
	}

	@Test
	void thePortOffsetCanBeSet() {
		ResolutionSettings settings = settings("tutti.rendezvous.port-offset", "10");
		ResolvedRank resolved = RankResolution.resolve(variables("RANK", "0", "WORLD_SIZE", "1", "MASTER_PORT", "4001",
				"TORCHELASTIC_USE_AGENT_STORE", "True"), settings);
		assertThat(resolved.assignment().masterPort()).isEqualTo(4011);
	}

	@Test
	void theAgentStoreAppliesToTorchrunOnly() {
		ResolvedRank resolved = resolve(variables("PMI_RANK", "0", "PMI_SIZE", "2", "MASTER_PORT", "4001",
				"TORCHELASTIC_USE_AGENT_STORE", "True", "TORCHELASTIC_RESTART_COUNT", "3"));
		assertThat(resolved.assignment().masterPort()).isEqualTo(4001);
		assertThat(resolved.generation()).isEqualTo(-1);
	}

	@Test
	void slurmTasksOnSeveralHostsUseTheFirstHost() {
		ResolvedRank resolved = resolve(
				slurm("SLURM_PROCID", "3", "SLURM_LOCALID", "0", "SLURM_NODEID", "1", "SLURM_STEP_NODELIST",
						"node[01-03,7],gpu1", "SLURM_STEP_TASKS_PER_NODE", "3,1(x4)", "SLURM_NTASKS", "7"));
		assertThat(resolved.assignment()).isEqualTo(new RankAssignment(3, 7, 0, 1, "node01", 29500));
		assertThat(resolved.source()).isEqualTo("slurm");
	}

	@Test
	void slurmTasksOnOneHostUseLoopback() {
		ResolvedRank resolved = resolve(
				slurm("SLURM_PROCID", "1", "SLURM_NTASKS", "4", "SLURM_LOCALID", "1", "SLURM_STEP_NODELIST", "node01"));
		assertThat(resolved.assignment()).isEqualTo(new RankAssignment(1, 4, 1, 4, "127.0.0.1", 29500));
	}

	/** Of {@code salloc -n 4} whose shell is a step, and of {@code srun -E}. */
	@Test
	void slurmTasksAreThoseOfTheStepAndNotOfTheAllocation() {
		Map<String, String> environment = slurm("SLURM_PROCID", "0", "SLURM_NTASKS", "4", "SLURM_STEP_NUM_TASKS", "2",
				"SLURM_LOCALID", "0", "SLURM_STEP_NODELIST", "node01");
		assertThat(resolve(environment).assignment()).isEqualTo(new RankAssignment(0, 2, 0, 2, "127.0.0.1", 29500));
		environment.putAll(Map.of("PMI_RANK", "0", "PMI_SIZE", "2", "SLURM_STEP_NODELIST", "a[1-2]",
				"SLURM_STEP_TASKS_PER_NODE", "1(x2)", "SLURM_NODEID", "0"));
		ResolvedRank resolved = resolve(environment);
		assertThat(resolved.assignment()).isEqualTo(new RankAssignment(0, 2, 0, 1, "a1", 29500));
		assertThat(resolved.conflicts()).isEmpty();
	}

	@Test
	void masterAddrTakesPrecedenceOverTheNodeListWithANote() {
		Map<String, String> environment = slurm("SLURM_PROCID", "1", "SLURM_NTASKS", "2", "SLURM_LOCALID", "0",
				"SLURM_STEP_NODELIST", "node[1-2]", "MASTER_ADDR", "login", "MASTER_PORT", "4000");
		ResolvedRank resolved = resolve(environment);
		assertThat(resolved.assignment().masterAddress()).isEqualTo("login");
		assertThat(resolved.assignment().masterPort()).isEqualTo(4000);
		assertThat(resolved.ignored()).singleElement().asString().contains("MASTER_ADDR=login", "node1");
		environment.put("MASTER_ADDR", "node1");
		assertThat(resolve(environment).ignored()).isEmpty();
	}

	@Test
	void aSlurmBatchScriptIsNotATask() {
		ResolvedRank resolved = resolve(
				variables("SLURM_PROCID", "0", "SLURM_NTASKS", "4", "SLURM_LOCALID", "0", "SLURM_JOB_ID", "77"));
		assertThat(resolved.assignment()).isEqualTo(RankAssignment.single());
		assertThat(resolved.source()).isEqualTo("none");
		assertThat(resolved.ignored()).singleElement().asString().contains("SLURM_PROCID=0", "77", "srun");
	}

	@Test
	void pmi2UnderSlurmTakesLocalRankAndHostsFromSlurm() {
		ResolvedRank resolved = resolve(
				slurm("PMI_RANK", "2", "PMI_SIZE", "4", "SLURM_PROCID", "2", "SLURM_NTASKS", "4", "SLURM_LOCALID", "0",
						"SLURM_NODEID", "1", "SLURM_STEP_NODELIST", "a[1-2]", "SLURM_STEP_TASKS_PER_NODE", "2(x2)"));
		assertThat(resolved.assignment()).isEqualTo(new RankAssignment(2, 4, 0, 2, "a1", 29500));
		assertThat(resolved.source()).isEqualTo("pmi");
		assertThat(resolved.conflicts()).isEmpty();
	}

	@Test
	void aKubeflowPodIsOneRank() {
		ResolvedRank resolved = resolve(variables("PET_NODE_RANK", "1", "PET_NNODES", "3", "PET_MASTER_ADDR", "job-0",
				"PET_MASTER_PORT", "29400", "PET_NPROC_PER_NODE", "4"));
		assertThat(resolved.assignment()).isEqualTo(new RankAssignment(1, 3, 0, 1, "job-0", 29400));
		assertThat(resolved.source()).isEqualTo("kubeflow");
		assertThat(resolved.ignored()).singleElement().asString().contains("PET_NPROC_PER_NODE=4");
	}

	@Test
	void aPodOfAnIndexedJobIsResolvedByItsIndex() {
		ResolvedRank resolved = resolve(
				variables("JOB_COMPLETION_INDEX", "2", "TUTTI_WORLD_SIZE", "3", "MASTER_ADDR", "job-0.svc"));
		assertThat(resolved.assignment()).isEqualTo(new RankAssignment(2, 3, 0, 1, "job-0.svc", 29500));
		assertThat(resolved.source()).isEqualTo("kubernetes");
		assertThat(resolved.ignored()).isEmpty();
	}

	@Test
	void aPodOfAStatefulSetIsResolvedByItsIndex() {
		ResolvedRank resolved = RankResolution.resolve(
				variables("TUTTI_POD_INDEX", "1", "TUTTI_WORLD_SIZE", "3", "MASTER_ADDR", "tutti-0"),
				settings("tutti.world-size", "3"));
		assertThat(resolved.assignment()).isEqualTo(new RankAssignment(1, 3, 0, 1, "tutti-0", 29500));
		assertThat(resolved.source()).isEqualTo("kubernetes");
		assertThat(resolved.ignored()).isEmpty();
		assertThat(resolved.conflicts()).isEmpty();
	}

	@Test
	void propertiesOverrideEveryLauncher() {
		ResolvedRank resolved = RankResolution.resolve(
				variables("OMPI_COMM_WORLD_RANK", "1", "OMPI_COMM_WORLD_SIZE", "2", "MASTER_ADDR", "elsewhere"),
				settings("tutti.rank", "2", "tutti.world-size", "3", "tutti.master-address", "here",
						"tutti.master-port", "5"));
		assertThat(resolved.assignment()).isEqualTo(new RankAssignment(2, 3, 0, 1, "here", 5));
		assertThat(resolved.source()).isEqualTo("properties");
		assertThat(resolved.conflicts()).hasSize(1);
	}

	@Test
	void setsArePreferredInTheDocumentedOrder() {
		Map<String, String> environment = variables("MASTER_ADDR", "host0", "TUTTI_WORLD_SIZE", "20");
		String[] ranks = { "TUTTI_POD_INDEX", "JOB_COMPLETION_INDEX", "PET_NODE_RANK", "SLURM_PROCID", "RANK",
				"PMI_RANK", "OMPI_COMM_WORLD_RANK" };
		String[] sizes = { "TUTTI_WORLD_SIZE", "TUTTI_WORLD_SIZE", "PET_NNODES", "SLURM_NTASKS", "WORLD_SIZE",
				"PMI_SIZE", "OMPI_COMM_WORLD_SIZE" };
		for (int i = 0; i < ranks.length; i++) {
			environment.put(ranks[i], Integer.toString(i));
			environment.put(sizes[i], "20");
			ResolvedRank resolved = resolve(environment);
			assertThat(resolved.assignment().rank()).isEqualTo(i);
			assertThat(resolved.conflicts()).hasSize(i);
		}
	}

	@Test
	void aLeftoverRankDoesNotOverrideMpirun() {
		Map<String, String> environment = variables("OMPI_COMM_WORLD_RANK", "1", "OMPI_COMM_WORLD_SIZE", "2", "RANK",
				"abc");
		ResolvedRank resolved = resolve(environment);
		assertThat(resolved.assignment().rank()).isEqualTo(1);
		assertThat(resolved.conflicts()).singleElement().asString().contains("RANK=abc", "torchrun", "open-mpi");
	}

	@Test
	void agreeingSetsAreNotReported() {
		ResolvedRank resolved = resolve(variables("OMPI_COMM_WORLD_RANK", "1", "OMPI_COMM_WORLD_SIZE", "2", "PMI_RANK",
				"01", "PMI_SIZE", "2", "RANK", "1"));
		assertThat(resolved.conflicts()).isEmpty();
		assertThat(resolved.ignored()).isEmpty();
	}

	@Test
	void anOuterLauncherThatStartedOnlyTheAgentsAgrees() {
		ResolvedRank resolved = resolve(slurm("RANK", "5", "WORLD_SIZE", "8", "LOCAL_RANK", "1", "LOCAL_WORLD_SIZE",
				"4", "GROUP_RANK", "1", "GROUP_WORLD_SIZE", "2", "SLURM_PROCID", "1", "SLURM_NTASKS", "2",
				"JOB_COMPLETION_INDEX", "1", "MASTER_ADDR", "host0"));
		assertThat(resolved.conflicts()).isEmpty();
	}

	@Test
	void conflictsCanBeForbidden() {
		Map<String, String> environment = variables("PMI_RANK", "1", "PMI_SIZE", "2", "RANK", "0", "WORLD_SIZE", "2");
		assertThat(resolve(environment).conflicts()).hasSize(1);
		assertThatExceptionOfType(ResolutionException.class)
			.isThrownBy(() -> RankResolution.resolve(environment, settings("tutti.launcher.on-conflict", "fail")))
			.withMessageContaining("PMI_RANK=1")
			.withMessageContaining("RANK=0 WORLD_SIZE=2 (torchrun)")
			.withMessageContaining("tutti.launcher.on-conflict");
	}

	@Test
	void aSizeAloneIsReported() {
		ResolvedRank resolved = RankResolution.resolve(
				variables("WORLD_SIZE", "4", "SLURM_NTASKS", "2", "MASTER_ADDR", "host0", "TUTTI_WORLD_SIZE", "8"),
				settings("tutti.world-size", "8"));
		assertThat(resolved.source()).isEqualTo("none");
		assertThat(resolved.ignored()).hasSize(4);
		assertThat(resolved.ignored()).anyMatch((line) -> line.startsWith("WORLD_SIZE=4 ignored"))
			.anyMatch((line) -> line.startsWith("SLURM_NTASKS=2 ignored"))
			.anyMatch((line) -> line.startsWith("tutti.world-size=8 ignored"))
			.anyMatch((line) -> line.startsWith("MASTER_ADDR=host0 ignored"));
	}

	@Test
	void theLocalRankIsDerivedIfTheLauncherDoesNotGiveIt() {
		assertThat(place("2", "4")).containsExactly(2, 4);
		assertThat(place("2", "4", "MASTER_ADDR", "localhost")).containsExactly(2, 4);
		assertThat(place("2", "4", "MASTER_ADDR", "10.0.0.1")).containsExactly(0, 1);
		assertThat(place("3", "4", "LOCAL_WORLD_SIZE", "2", "MASTER_ADDR", "10.0.0.1")).containsExactly(1, 2);
		assertThat(place("2", "4", "LOCAL_RANK", "2")).containsExactly(2, 4);
		assertThat(place("2", "4", "LOCAL_RANK", "1", "MASTER_ADDR", "10.0.0.1")).containsExactly(1, 2);
	}

	private static int[] place(String rank, String worldSize, String... more) {
		Map<String, String> environment = variables(more);
		environment.putAll(Map.of("RANK", rank, "WORLD_SIZE", worldSize));
		RankAssignment assignment = resolve(environment).assignment();
		return new int[] { assignment.localRank(), assignment.localWorldSize() };
	}

	private static ResolvedRank resolve(Map<String, String> environment) {
		return RankResolution.resolve(environment, ResolutionSettings.DEFAULTS);
	}

	static ResolutionSettings settings(String... properties) {
		return ResolutionSettings.from(variables(properties)::get);
	}

	private static Map<String, String> slurm(String... pairs) {
		Map<String, String> variables = variables(pairs);
		variables.putAll(Map.of("SLURM_JOB_ID", "77", "SLURM_STEP_ID", "0"));
		return variables;
	}

	static Map<String, String> variables(String... pairs) {
		Map<String, String> variables = new LinkedHashMap<>();
		for (int i = 0; i < pairs.length; i += 2) {
			variables.put(pairs[i], pairs[i + 1]);
		}
		return variables;
	}

}
