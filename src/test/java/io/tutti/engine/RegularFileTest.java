package io.tutti.engine;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@Timeout(20)
class RegularFileTest {

	@TempDir
	private Path folder;

	@Test
	void aFileUpToTheLimitIsRead() throws IOException {
		Path file = Files.writeString(this.folder.resolve("text"), "ä23");
		assertThat(RegularFile.problem(file, 4)).isNull();
		assertThat(RegularFile.read(file, 4)).isEqualTo("ä23");
		assertFails(file, 3, "it holds more than 3 bytes");
	}

	@Test
	void whatHasNoEndOrNoTextIsRefusedWithTheReason() throws IOException {
		assertFails(Path.of("/dev/zero"), 4, "it is no regular file");
		assertFails(this.folder, 4, "it is a directory");
		assertFails(this.folder.resolve("none"), 4, "there is no such file");
		assertFails(Files.write(this.folder.resolve("bytes"), new byte[] { -1 }), 4, "it is no text in UTF-8");
	}

	private static void assertFails(Path file, long maxBytes, String reason) {
		assertThatExceptionOfType(IOException.class).isThrownBy(() -> RegularFile.read(file, maxBytes))
			.withMessage(reason);
	}

}
