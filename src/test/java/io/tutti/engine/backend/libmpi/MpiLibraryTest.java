package io.tutti.engine.backend.libmpi;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;

import io.tutti.BackendUnavailableException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@Timeout(20)
class MpiLibraryTest {

	@TempDir
	Path directory;

	@Test
	void anUnknownNameIsRejectedAndTheValidOnesAreListed() {
		assertRejected("lam", "tutti.mpi.library=lam must be openmpi, mpich or a path");
	}

	@Test
	void aMissingFileIsNamed() {
		assertRejected("/no/libmpi.so", "no library at /no/libmpi.so");
	}

	@Test
	void anInvalidLibraryFileIsNamed() throws Exception {
		Path file = Files.writeString(this.directory.resolve("libmpi.so"), "not an ELF file");
		assertRejected(file.toString(), "no library " + file + " can be loaded");
	}

	@Test
	void aLibraryWithoutMpiIsNamed() {
		Path unrelated = Path.of(System.getProperty("java.home"), "lib", "libzip.so");
		assertRejected(unrelated.toString(), unrelated + " is no library of MPI 3 or later");
	}

	@Test
	void groupsHaveTagsOfTheirOwn() {
		Set<Integer> tags = new HashSet<>();
		for (int group = 0; group < 20_000; group++) {
			tags.add(MpiWorld.groupTag("world/" + group + ".0", Integer.MAX_VALUE));
		}
		assertThat(tags).hasSize(20_000).allMatch((tag) -> tag >= 0);
		assertThat(MpiWorld.groupTag("world/1.0", 32767)).isBetween(0, 32767);
	}

	private static void assertRejected(String choice, String problem) {
		assertThatExceptionOfType(BackendUnavailableException.class).isThrownBy(() -> MpiLibrary.load(choice))
			.withMessageContaining(problem)
			.withMessageContaining("Set tutti.mpi.library to openmpi")
			.satisfies((ex) -> assertThat(ex.backend()).isEqualTo("mpi"));
	}

}
