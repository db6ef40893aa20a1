package io.tutti.engine.backend.libmpi;

import java.nio.file.Files;
import java.nio.file.Path;

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
		assertRejected("lam", "tutti.mpi.library=lam is none of openmpi, mpich and a path");
	}

	@Test
	void aMissingFileIsNamed() {
		assertRejected("/no/libmpi.so", "there is no library /no/libmpi.so");
	}

	@Test
	void anInvalidLibraryFileIsNamed() throws Exception {
		Path file = Files.writeString(this.directory.resolve("libmpi.so"), "not an ELF file");
		assertRejected(file.toString(), "no library " + file + " can be loaded here");
	}

	@Test
	void aLibraryWithoutMpiIsNamed() {
		Path unrelated = Path.of(System.getProperty("java.home"), "lib", "libzip.so");
		assertRejected(unrelated.toString(), unrelated + " is no library of MPI 3 or later");
	}

	private static void assertRejected(String choice, String problem) {
		assertThatExceptionOfType(BackendUnavailableException.class).isThrownBy(() -> MpiLibrary.load(choice))
			.withMessageContaining(problem)
			.withMessageContaining("Set tutti.mpi.library to openmpi")
			.satisfies((ex) -> assertThat(ex.backend()).isEqualTo("mpi"));
	}

}
