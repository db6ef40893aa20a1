package io.tutti.service.command;

import java.util.BitSet;

import io.tutti.BadConfigurationException;
import io.tutti.ExitCode;
import io.tutti.ProcessGroup;
import io.tutti.testing.RankTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

@Timeout(30)
class ComparableGroupTest {

	@RankTest
	void ranksWithCoresOfTheirOwnAreRefusedOnEveryRank(ProcessGroup group) {
		assertThatExceptionOfType(BadConfigurationException.class)
			.isThrownBy(() -> ComparableGroup.requireSameCores(group, cores(2 * group.rank(), 2 * group.rank() + 2)))
			.withMessageContaining("--bind-to none")
			.withMessageContaining("./tutti launch")
			.satisfies((refused) -> assertThat(refused.exitCode()).isEqualTo(ExitCode.BAD_CONFIGURATION));
	}

	@RankTest
	void ranksThatShareOneCoreAreCompared(ProcessGroup group) {
		assertThatNoException().isThrownBy(() -> ComparableGroup.requireSameCores(group, cores(3, 4)));
	}

	@RankTest
	void ranksWhoseCoresAreUnknownAreCompared(ProcessGroup group) {
		assertThatNoException().isThrownBy(() -> ComparableGroup.requireSameCores(group, new BitSet()));
	}

	@Test
	void onlyTcpAndSharedMemoryAreCompared() {
		assertThat(ComparableGroup.sharedMemory("tcp")).isFalse();
		assertThat(ComparableGroup.sharedMemory("shm")).isTrue();
		assertThatExceptionOfType(BadConfigurationException.class)
			.isThrownBy(() -> ComparableGroup.sharedMemory("Open MPI 4.1.4"))
			.withMessageContaining("Open MPI 4.1.4");
	}

	private static BitSet cores(int from, int to) {
		BitSet cores = new BitSet();
		cores.set(from, to);
		return cores;
	}

}
