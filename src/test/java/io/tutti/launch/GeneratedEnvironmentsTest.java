package io.tutti.launch;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

import io.tutti.engine.RankAssignment;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

/**
 * Properties that hold for every environment, tested on generated ones. A failure prints
 * the environment and the seed.
 */
@Timeout(60)
class GeneratedEnvironmentsTest {

	private static final int ENVIRONMENTS = 20_000;

	/**
	 * Rank variable, size variable and source by precedence, independent of the code
	 * under test.
	 */
	private static final List<String[]> SETS = List.of(
			new String[] { "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "open-mpi" },
			new String[] { "PMI_RANK", "PMI_SIZE", "pmi" }, new String[] { "RANK", "WORLD_SIZE", "torchrun" },
			new String[] { "SLURM_PROCID", "SLURM_NTASKS", "slurm" },
			new String[] { "PET_NODE_RANK", "PET_NNODES", "kubeflow" },
			new String[] { "JOB_COMPLETION_INDEX", "TUTTI_WORLD_SIZE", "kubernetes" },
			new String[] { "TUTTI_POD_INDEX", "TUTTI_WORLD_SIZE", "kubernetes" });

	private static final List<String> OTHERS = List.of("OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE",
			"MPI_LOCALRANKID", "MPI_LOCALNRANKS", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "GROUP_RANK", "GROUP_WORLD_SIZE",
			"MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RESTART_COUNT", "TORCHELASTIC_USE_AGENT_STORE", "SLURM_JOB_ID",
			"SLURM_STEP_ID", "SLURM_LOCALID", "SLURM_NODEID", "SLURM_STEP_NODELIST", "SLURM_STEP_TASKS_PER_NODE",
			"PET_MASTER_ADDR", "PET_MASTER_PORT", "PET_NPROC_PER_NODE");

	private static final List<String> VALUES = List.of("0", "1", "2", "3", "4", "7", "-1", "", " ", "x", "2.0", "1e3",
			"65536", "2147483648", "True", "host0", "127.0.0.1", "::1", "node[1-2]", "node[1-", "n1,n2", "2(x2)", "2(x",
			"]", "[", ",", "\u0000", "00");

	@RepeatedTest(3)
	void everyEnvironmentIsResolvedOrRejectedWithTheVariable() {
		long seed = new Random().nextLong();
		Random random = new Random(seed);
		for (int i = 0; i < ENVIRONMENTS; i++) {
			Map<String, String> environment = anyEnvironment(random);
			try {
				checkAny(environment);
			}
			catch (RuntimeException | AssertionError ex) {
				fail("seed " + seed + ", environment " + environment, ex);
			}
		}
	}

	private static void checkAny(Map<String, String> environment) {
		try {
			ResolvedRank resolved = RankResolution.resolve(environment, ResolutionSettings.DEFAULTS);
			assertThat(resolved.source()).isEqualTo(expectedSource(environment));
			assertThat(environment).containsAllEntriesOf(resolved.used());
		}
		catch (ResolutionException ex) {
			String value = environment.get(ex.variable());
			assertThat(expectedSource(environment)).isNotEqualTo("none");
			if (value == null) {
				assertThat(ex).hasMessageContaining(ex.variable() + " is not set");
			}
			else {
				assertThat(ex).hasMessageContaining(ex.variable() + "=").hasMessageContaining(value);
			}
			assertThat(ex.expected()).isNotBlank();
		}
	}

	@Test
	void aCompleteSetIsResolvedRegardlessOfSetsOfLowerPrecedence() {
		long seed = new Random().nextLong();
		Random random = new Random(seed);
		for (int i = 0; i < ENVIRONMENTS; i++) {
			int selected = random.nextInt(SETS.size());
			int worldSize = 1 + random.nextInt(9);
			int rank = random.nextInt(worldSize);
			Map<String, String> environment = withLeftovers(random, selected);
			environment.put(SETS.get(selected)[0], Integer.toString(rank));
			environment.put(SETS.get(selected)[1], Integer.toString(worldSize));
			environment.put("MASTER_ADDR", "host0");
			try {
				checkWhole(environment, selected, rank, worldSize);
			}
			catch (RuntimeException | AssertionError ex) {
				fail("seed " + seed + ", environment " + environment, ex);
			}
		}
	}

	private static void checkWhole(Map<String, String> environment, int selected, int rank, int worldSize) {
		ResolvedRank resolved = RankResolution.resolve(environment, ResolutionSettings.DEFAULTS);
		RankAssignment who = resolved.assignment();
		assertThat(resolved.source()).isEqualTo(SETS.get(selected)[2]);
		assertThat(who.rank()).isEqualTo(rank);
		assertThat(who.worldSize()).isEqualTo(worldSize);
		assertThat(who.masterAddress()).isEqualTo("host0");
		long disagreeing = SETS.stream()
			.skip(selected + 1L)
			.filter((set) -> disagrees(environment.get(set[0]), rank)
					|| (environment.containsKey(set[0]) && disagrees(environment.get(set[1]), worldSize)))
			.count();
		assertThat(resolved.conflicts()).hasSize((int) disagreeing);
	}

	private static boolean disagrees(@Nullable String text, int value) {
		return text != null && !text.matches("0*" + value);
	}

	/** The first set whose rank is present; Slurm's is ignored in a batch script. */
	private static String expectedSource(Map<String, String> environment) {
		boolean batch = environment.containsKey("SLURM_JOB_ID") && !environment.containsKey("SLURM_STEP_ID");
		for (String[] set : SETS) {
			if (environment.containsKey(set[0]) && !(batch && set[2].equals("slurm"))) {
				return set[2];
			}
		}
		return "none";
	}

	private static Map<String, String> anyEnvironment(Random random) {
		Map<String, String> environment = new HashMap<>();
		for (String[] set : SETS) {
			putMaybe(random, environment, set[0], 3);
			putMaybe(random, environment, set[1], 2);
		}
		OTHERS.forEach((name) -> putMaybe(random, environment, name, 3));
		return environment;
	}

	private static Map<String, String> withLeftovers(Random random, int selected) {
		Map<String, String> environment = new HashMap<>();
		for (String[] lower : SETS.subList(selected + 1, SETS.size())) {
			putMaybe(random, environment, lower[0], 2);
			putMaybe(random, environment, lower[1], 2);
		}
		return environment;
	}

	private static void putMaybe(Random random, Map<String, String> environment, String name, int oneIn) {
		if (random.nextInt(oneIn) == 0) {
			boolean small = random.nextInt(3) > 0;
			environment.put(name,
					small ? Integer.toString(random.nextInt(5)) : VALUES.get(random.nextInt(VALUES.size())));
		}
	}

}
