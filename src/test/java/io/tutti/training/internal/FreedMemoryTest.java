package io.tutti.training.internal;

import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

class FreedMemoryTest {

	@ParameterizedTest
	@ValueSource(strings = { "MALLOC_TRIM_THRESHOLD_=1", "MALLOC_MMAP_THRESHOLD_=1", "MALLOC_TOP_PAD_=1",
			"MALLOC_MMAP_MAX_=1", "GLIBC_TUNABLES=glibc.malloc.trim_threshold=1" })
	void theUsersSettingsTakePrecedence(String variable) {
		String[] parts = variable.split("=", 2);
		assertThat(FreedMemory.isConfigured(Map.of(parts[0], parts[1]))).isTrue();
	}

	@Test
	void otherVariablesAreNotSettingsOfTheAllocator() {
		assertThat(FreedMemory.isConfigured(Map.of("GLIBC_TUNABLES", "glibc.cpu.x86_ibt=on", "PATH", "/bin")))
			.isFalse();
	}

}
