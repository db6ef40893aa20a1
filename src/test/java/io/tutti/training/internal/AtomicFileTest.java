package io.tutti.training.internal;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@Timeout(30)
class AtomicFileTest {

	@TempDir
	private Path directory;

	@Test
	void aFileIsCreatedAndReplaced() throws IOException {
		Path file = this.directory.resolve("file");
		AtomicFile.write(file, new byte[] { 1, 2, 3 });
		AtomicFile.write(file, new byte[] { 4 });
		assertThat(file).hasBinaryContent(new byte[] { 4 });
		assertThat(this.directory.toFile().list()).containsExactly("file");
	}

	@Test
	void aFailureLeavesTheFileUnchanged() throws IOException {
		Path file = Files.writeString(this.directory.resolve("file"), "before");
		Files.createDirectories(AtomicFile.temporary(file).resolve("in the way"));
		assertThatExceptionOfType(IOException.class).isThrownBy(() -> AtomicFile.write(file, new byte[] { 1 }));
		assertThat(file).hasContent("before");
	}

	@Test
	void aLeftoverOfAKilledRunIsOverwritten() throws IOException {
		Path file = this.directory.resolve("file");
		Files.writeString(AtomicFile.temporary(file), "half a file, and longer");
		AtomicFile.write(file, new byte[] { 1 });
		assertThat(file).hasBinaryContent(new byte[] { 1 });
		assertThat(this.directory.toFile().list()).containsExactly("file");
	}

	@Test
	void theTemporaryFileOfAnotherProcessStaysUnchanged() throws IOException {
		Path other = Files.writeString(this.directory.resolve("file.1.tmp"), "half of another's file");
		Path file = this.directory.resolve("file");
		AtomicFile.write(file, new byte[] { 1 });
		assertThat(file).hasBinaryContent(new byte[] { 1 });
		assertThat(other).hasContent("half of another's file");
	}

	@Test
	void aWriteToASymbolicLinkChangesItsTarget() throws IOException {
		Path target = Files.writeString(this.directory.resolve("target"), "before");
		Path link = Files.createSymbolicLink(this.directory.resolve("link"), target);
		AtomicFile.write(link, "after".getBytes(StandardCharsets.UTF_8));
		assertThat(link).isSymbolicLink();
		assertThat(target).hasContent("after");
	}

}
