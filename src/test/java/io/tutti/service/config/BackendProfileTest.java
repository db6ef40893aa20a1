package io.tutti.service.config;

import io.tutti.BackendUnavailableException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@Timeout(20)
class BackendProfileTest {

	@Test
	void withoutABackendProfileTheBackendIsTcp() {
		assertThat(BackendProfile.of(new String[0])).isEqualTo("tcp");
		assertThat(BackendProfile.of(new String[] { "production", "debug" })).isEqualTo("tcp");
	}

	@Test
	void aProfileChoosesTheBackendOfItsName() {
		assertThat(BackendProfile.of(new String[] { "tcp" })).isEqualTo("tcp");
		assertThat(BackendProfile.of(new String[] { "production", "mpi" })).isEqualTo("mpi");
		assertThat(BackendProfile.of(new String[] { "nccl", "nccl" })).isEqualTo("nccl");
	}

	@Test
	void twoBackendsAtOnceAreRejectedByName() {
		assertThatExceptionOfType(BackendUnavailableException.class)
			.isThrownBy(() -> BackendProfile.of(new String[] { "tcp", "x", "mpi" }))
			.withMessageContaining("tcp and mpi")
			.withMessageContaining("Keep one of the profiles tcp, mpi");
	}

}
