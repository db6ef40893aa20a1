package io.tutti.engine.transport.shm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(30)
class AvailableMemoryTest {

	@TempDir
	private Path group;

	@BeforeEach
	void fill() throws IOException {
		write("memory.max", "8000");
		write("memory.current", "7000");
		write("memory.stat", "anon 5000\nfile 1900\nshmem 1400\ninactive_anon 1\ninactive_file 300\nactive_file 200");
	}

	@Test
	void aContainerHasWhatIsLeftOfItsLimitAndThePageCache() {
		assertThat(AvailableMemory.ofGroups(this.group, this.group)).isEqualTo(1500);
	}

	@Test
	void aGroupWithoutALimitHasWhatIsLeftOfThatOfAGroupThatHoldsIt() throws IOException {
		Path inner = Files.createDirectories(this.group.resolve("job/step"));
		assertThat(AvailableMemory.ofGroups(this.group, inner)).isEqualTo(1500);
	}

	@Test
	void aContainerAboveItsLimitHasNone() throws IOException {
		write("memory.current", "9000");
		assertThat(AvailableMemory.ofGroups(this.group, this.group)).isZero();
	}

	@Test
	void withoutALimitOnlyTheHostLimitsIt() throws IOException {
		write("memory.max", "max");
		assertThat(AvailableMemory.ofGroups(this.group, this.group)).isEqualTo(Long.MAX_VALUE);
		assertThat(AvailableMemory.ofGroups(this.group, Path.of("/missing"))).isEqualTo(Long.MAX_VALUE);
		assertThat(AvailableMemory.ofHost()).isPositive().isLessThan(Long.MAX_VALUE);
	}

	private void write(String name, String content) throws IOException {
		Files.writeString(this.group.resolve(name), content + "\n");
	}

}
