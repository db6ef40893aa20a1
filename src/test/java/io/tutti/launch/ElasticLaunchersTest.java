package io.tutti.launch;

import java.util.HashMap;
import java.util.Map;

import io.tutti.ExitCode;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class ElasticLaunchersTest {

	private static final Map<String, String> OPEN_MPI = Map.of("OMPI_COMM_WORLD_RANK", "0", "OMPI_COMM_WORLD_SIZE",
			"2");

	private static final Map<String, String> MPICH = Map.of("PMI_RANK", "0", "PMI_SIZE", "2");

	private static final Map<String, String> SLURM = Map.of("SLURM_PROCID", "0", "SLURM_NTASKS", "2", "SLURM_LOCALID",
			"0", "SLURM_JOB_ID", "1", "SLURM_STEP_ID", "0", "SLURM_STEP_NODELIST", "localhost");

	private static final Map<String, String> TORCHRUN = Map.of("RANK", "0", "WORLD_SIZE", "2", "TORCHELASTIC_RUN_ID",
			"1");

	@ParameterizedTest
	@CsvSource({ "mpirun", "mpiexec", "srun", "torchrun" })
	void aLauncherThatEndsTheRemainingRanksIsRefused(String launcher) {
		Map<String, String> variables = Map
			.of("mpirun", OPEN_MPI, "mpiexec", MPICH, "srun", SLURM, "torchrun", TORCHRUN)
			.get(launcher);
		assertThatThrownBy(() -> require(variables))
			.isInstanceOfSatisfying(ResolutionException.class,
					(ex) -> assertThat(ex.exitCode()).isEqualTo(ExitCode.BAD_CONFIGURATION))
			.hasMessageContaining("tutti.elastic.min-ranks=2")
			.hasMessageContaining(launcher);
	}

	/** Its processes also have the variables of the step that started its agents. */
	@Test
	void anMpiexecInASlurmAllocationIsRefusedToo() {
		Map<String, String> variables = kept(SLURM);
		variables.putAll(Map.of("PMI_RANK", "1", "PMI_SIZE", "4", "MPI_LOCALRANKID", "1", "MPI_LOCALNRANKS", "4"));
		assertThatThrownBy(() -> require(variables)).isInstanceOf(ResolutionException.class)
			.hasMessageContaining("mpiexec");
	}

	@Test
	void ranksThatTheirLauncherKeepsAreAccepted() {
		require(Map.of("RANK", "0", "WORLD_SIZE", "2"));
		Map<String, String> kept = kept(SLURM);
		require(kept);
		kept.putAll(MPICH);
		require(kept);
		Map<String, String> launch = new HashMap<>(TORCHRUN);
		launch.put("TUTTI_LAUNCHER_PID", "1");
		require(launch);
	}

	private static Map<String, String> kept(Map<String, String> slurm) {
		Map<String, String> kept = new HashMap<>(slurm);
		kept.put("SLURM_KILL_BAD_EXIT", "0");
		return kept;
	}

	private static void require(Map<String, String> variables) {
		ElasticLaunchers.requireSupported("2", RankResolution.resolve(variables, ResolutionSettings.DEFAULTS),
				variables);
	}

}
