package io.tutti.benchmark.peer;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(10)
class BuildDirectoryTest {

	@TempDir
	Path checkout;

	@ParameterizedTest
	@ValueSource(strings = { "tutti.jar", "app/tutti.jar" })
	void buildsInACheckoutAreKept(String jar) throws Exception {
		Files.createDirectories(this.checkout.resolve("src/bench"));
		Path target = Files.createDirectory(this.checkout.resolve("target"));
		try (BuildDirectory directory = BuildDirectory.of(target.resolve(jar).toString())) {
			assertThat(directory.path()).isEqualTo(target.resolve("bench"));
			Files.createDirectory(directory.path());
		}
		assertThat(target.resolve("bench")).exists();
	}

	@Test
	void aBuildDirectoryOfAnotherUserIsNotUsed() throws Exception {
		Files.createDirectories(this.checkout.resolve("src/bench"));
		Path bench = Files.createDirectories(this.checkout.resolve("target/bench"));
		Files.setPosixFilePermissions(bench, PosixFilePermissions.fromString("r-xr-xr-x"));
		Assumptions.assumeFalse(Files.isWritable(bench), "the user may write into every directory");
		try (BuildDirectory directory = BuildDirectory.of(this.checkout.resolve("target/tutti.jar").toString())) {
			assertThat(directory.path()).isNotEqualTo(bench);
		}
	}

	@Test
	void aJarOutsideACheckoutUsesATemporaryDirectory() throws Exception {
		Path path;
		try (BuildDirectory directory = BuildDirectory.of(this.checkout.resolve("tutti.jar").toString())) {
			path = directory.path();
			Files.writeString(Files.createDirectory(path.resolve("build")).resolve("program"), "built");
		}
		assertThat(path).doesNotExist();
	}

}
