package io.tutti.launch;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

@Timeout(10)
class ResolutionErrorsTest {

	private static final List<String[]> SETS = List.of(new String[] { "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE" },
			new String[] { "PMI_RANK", "PMI_SIZE" }, new String[] { "RANK", "WORLD_SIZE" },
			new String[] { "SLURM_PROCID", "SLURM_NTASKS" }, new String[] { "PET_NODE_RANK", "PET_NNODES" },
			new String[] { "JOB_COMPLETION_INDEX", "TUTTI_WORLD_SIZE" },
			new String[] { "TUTTI_POD_INDEX", "TUTTI_WORLD_SIZE" });

	static Stream<String[]> sets() {
		return SETS.stream();
	}

	@ParameterizedTest
	@MethodSource("sets")
	void aRankWithoutItsWorldSizeIsAnErrorThatNamesTheWorldSize(String rank, String size) {
		ResolutionException ex = failure(rank, "1");
		assertThat(ex.variable()).isEqualTo(size);
		assertThat(ex.value()).isNull();
		assertThat(ex).hasMessageContaining(size + " is not set").hasMessageContaining(rank + "=1");
	}

	@ParameterizedTest
	@MethodSource("sets")
	void aBadRankIsAnErrorThatNamesItsValueAndTheRange(String rank, String size) {
		for (String value : List.of("4", "-1", "", " 1", "1.0", "x", "99999999999999999999", "٣", "+1")) {
			ResolutionException ex = failure(rank, value, size, "4");
			assertThat(ex.variable()).isEqualTo(rank);
			assertThat(ex.value()).isEqualTo(value);
			assertThat(ex).hasMessageContaining(rank + "=" + value).hasMessageContaining("0..3");
		}
	}

	@ParameterizedTest
	@MethodSource("sets")
	void aBadWorldSizeIsAnErrorThatNamesItsValueAndTheRange(String rank, String size) {
		for (String value : List.of("0", "-4", "", "four", "65537", "1:4")) {
			ResolutionException ex = failure(rank, "0", size, value);
			assertThat(ex.variable()).isEqualTo(size);
			assertThat(ex.value()).isEqualTo(value);
			assertThat(ex).hasMessageContaining("1..65536");
		}
	}

	@ParameterizedTest
	@CsvSource({ "LOCAL_RANK,2", "LOCAL_RANK,-1", "LOCAL_WORLD_SIZE,0", "LOCAL_WORLD_SIZE,5", "MASTER_PORT,0",
			"MASTER_PORT,65536", "MASTER_PORT,http", "MASTER_ADDR,' '", "MASTER_ADDR,''", "MASTER_ADDR,'a b'",
			"TORCHELASTIC_RESTART_COUNT,-1" })
	void anOptionalVariableOfTheSelectedSetMustBeValidToo(String variable, String value) {
		ResolutionException ex = failure("RANK", "1", "WORLD_SIZE", "4", "LOCAL_RANK", "1", "LOCAL_WORLD_SIZE", "2",
				"MASTER_ADDR", "host0", variable, value);
		assertThat(ex.variable()).isEqualTo(variable);
		assertThat(ex).hasMessageContaining(value);
	}

	@ParameterizedTest
	@CsvSource({ "SLURM_STEP_NODELIST,'node[1-'", "SLURM_STEP_TASKS_PER_NODE,2(x", "SLURM_LOCALID,9",
			"SLURM_NODEID,first" })
	void aMalformedSlurmVariableIsNamed(String variable, String value) {
		ResolutionException ex = failure("SLURM_PROCID", "1", "SLURM_NTASKS", "4", "SLURM_STEP_NODELIST", "n[1-2]",
				"SLURM_STEP_TASKS_PER_NODE", "2(x2)", "SLURM_NODEID", "0", "SLURM_LOCALID", "1", variable, value);
		assertThat(ex.variable()).isEqualTo(variable);
	}

	@Test
	void anAgentPortThatLeavesNoValidPortIsRejected() {
		ResolutionException ex = failure("RANK", "0", "WORLD_SIZE", "1", "MASTER_PORT", "65535",
				"TORCHELASTIC_USE_AGENT_STORE", "True");
		assertThat(ex.variable()).isEqualTo("MASTER_PORT");
		assertThat(ex).hasMessageContaining("65534");
	}

	@ParameterizedTest
	@CsvSource({ "OMPI_COMM_WORLD_RANK,OMPI_COMM_WORLD_SIZE,OMPI_COMM_WORLD_LOCAL_SIZE,mpirun -x MASTER_ADDR=",
			"PMI_RANK,PMI_SIZE,MPI_LOCALNRANKS,mpiexec -genv MASTER_ADDR ",
			"RANK,WORLD_SIZE,LOCAL_WORLD_SIZE,export MASTER_ADDR=",
			"JOB_COMPLETION_INDEX,TUTTI_WORLD_SIZE,UNUSED,export MASTER_ADDR=",
			"PET_NODE_RANK,PET_NNODES,UNUSED,export PET_MASTER_ADDR=" })
	void severalHostsWithoutMasterAddressGetTheOptionToAdd(String rank, String size, String localSize, String line) {
		ResolutionException ex = failure(rank, "3", size, "4", localSize, "2");
		assertThat(ex.variable()).isEqualTo("MASTER_ADDR");
		assertThat(ex).hasMessageContaining("of 4 ranks are on this host").hasMessageContaining(line);
	}

	@ParameterizedTest
	@CsvSource({ "tutti.rank,-1", "tutti.rank,one", "tutti.world-size,0", "tutti.master-port,70000",
			"tutti.rendezvous.port-offset,-1", "tutti.launcher.on-conflict,ignore" })
	void aBadPropertyIsNamed(String property, String value) {
		ResolutionException ex = catchThrowableOfType(ResolutionException.class,
				() -> RankResolutionTest.settings(property, value));
		assertThat(ex.variable()).isEqualTo(property);
		assertThat(ex).hasMessageContaining(property + "=" + value);
	}

	@Test
	void aRankPropertyWithoutWorldSizeIsAnError() {
		ResolutionException ex = catchThrowableOfType(ResolutionException.class,
				() -> RankResolution.resolve(Map.of(), RankResolutionTest.settings("tutti.rank", "1")));
		assertThat(ex.variable()).isEqualTo("tutti.world-size");
	}

	private static ResolutionException failure(String... pairs) {
		Map<String, String> environment = RankResolutionTest.variables(pairs);
		return catchThrowableOfType(ResolutionException.class,
				() -> RankResolution.resolve(environment, ResolutionSettings.DEFAULTS));
	}

}
