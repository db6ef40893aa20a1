package io.tutti.training.internal;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemLoopException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import io.tutti.TestJvm;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@Timeout(30)
class AtomicFileTest {

	@TempDir
	private Path directory;

	/** As with Ctrl-C, at which threads do not unwind. */
	@Test
	void aProcessThatIsStoppedInsideAWriteLeavesTheFileAlone() throws Exception {
		Path file = Files.writeString(this.directory.resolve("model.pt"), "before");
		Process process = new ProcessBuilder(TestJvm.command(EndlessWrite.class, file)).start();
		try {
			assertThat(process.inputReader().readLine()).isEqualTo("writing");
			assertThat(names()).hasSize(2);
			process.destroy();
			assertThat(process.waitFor(20, TimeUnit.SECONDS)).isTrue();
		}
		finally {
			process.destroyForcibly();
		}
		assertThat(names()).containsExactly("model.pt");
		assertThat(file).hasContent("before");
	}

	private List<String> names() throws IOException {
		try (Stream<Path> files = Files.list(this.directory)) {
			return files.map((file) -> file.getFileName().toString()).toList();
		}
	}

	/** Begins to replace a file. */
	static final class EndlessWrite {

		private EndlessWrite() {
		}

		public static void main(String[] arguments) throws Exception {
			AtomicFile.write(Path.of(arguments[0]), (stream) -> {
				IO.println("writing");
				try {
					new CountDownLatch(1).await();
				}
				catch (InterruptedException ex) {
					throw new IOException(ex);
				}
			});
		}

	}

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
		assertThatExceptionOfType(IOException.class).isThrownBy(() -> AtomicFile.write(file, (stream) -> {
			stream.write(new byte[1 << 17]);
			throw new IOException("the disk is full");
		})).withMessage("the disk is full");
		assertThat(file).hasContent("before");
		assertThat(this.directory.toFile().list()).containsExactly("file");
	}

	/** As by two processes with the same id, in two containers. */
	@Test
	void twoConcurrentWritesUseDifferentTemporaryFiles() throws IOException {
		Path file = this.directory.resolve("file");
		AtomicFile.write(file, (stream) -> {
			stream.write("the last rename wins".getBytes(StandardCharsets.UTF_8));
			AtomicFile.write(file, "first".getBytes(StandardCharsets.UTF_8));
			assertThat(file).hasContent("first");
		});
		assertThat(file).hasContent("the last rename wins");
		assertThat(this.directory.toFile().list()).containsExactly("file");
	}

	@Test
	void aWriteToASymbolicLinkChangesItsTarget() throws IOException {
		Path target = Files.writeString(this.directory.resolve("target"), "before");
		Path link = Files.createSymbolicLink(this.directory.resolve("link"), target);
		AtomicFile.write(link, "after".getBytes(StandardCharsets.UTF_8));
		assertThat(link).isSymbolicLink();
		assertThat(target).hasContent("after");
	}

	@Test
	void aFailureLeavesTheTargetOfASymbolicLinkUnchanged() throws IOException {
		Path folder = Files.createDirectory(this.directory.resolve("folder"));
		Path target = Files.writeString(folder.resolve("target"), "before");
		Path link = Files.createSymbolicLink(this.directory.resolve("link"), target);
		assertThatExceptionOfType(IOException.class).isThrownBy(() -> AtomicFile.write(link, (stream) -> {
			stream.write(new byte[1 << 17]);
			throw new IOException("the disk is full");
		})).withMessage("the disk is full");
		assertThat(target).hasContent("before");
		assertThat(folder.toFile().list()).containsExactly("target");
	}

	@Test
	void aSymbolicLinkToNothingCreatesItsTarget() throws IOException {
		Path target = this.directory.resolve("target");
		Path link = Files.createSymbolicLink(this.directory.resolve("link"), target);
		AtomicFile.write(link, "after".getBytes(StandardCharsets.UTF_8));
		assertThat(link).isSymbolicLink();
		assertThat(target).hasContent("after");
	}

	@Test
	void aChainOfRelativeLinksIsFollowed() throws IOException {
		Path folder = Files.createDirectories(this.directory.resolve("a/b"));
		Path target = Files.writeString(this.directory.resolve("a/target"), "before");
		Files.createSymbolicLink(folder.resolve("second"), Path.of("../target"));
		Files.createSymbolicLink(this.directory.resolve("folder"), folder);
		Path link = Files.createSymbolicLink(this.directory.resolve("link"), Path.of("folder/../b/second"));
		AtomicFile.write(link, "after".getBytes(StandardCharsets.UTF_8));
		assertThat(link).isSymbolicLink();
		assertThat(target).hasContent("after");
	}

	@Test
	void linksThatLeadToEachOtherAreRefused() throws IOException {
		Path first = this.directory.resolve("first");
		Path second = Files.createSymbolicLink(this.directory.resolve("second"), first);
		Files.createSymbolicLink(first, second);
		assertThatExceptionOfType(FileSystemLoopException.class).isThrownBy(() -> AtomicFile.write(first, new byte[1]));
	}

	@Test
	void aLinkInSharedMemoryIsFollowed() throws IOException {
		Path target = Files.writeString(this.directory.resolve("target"), "before");
		Path shared = Files.createTempDirectory(Path.of("/dev/shm"), "tutti-");
		try {
			Path link = Files.createSymbolicLink(shared.resolve("link"), target);
			assertThat(AtomicFile.target(link)).isEqualTo(target.toRealPath());
		}
		finally {
			Files.deleteIfExists(shared.resolve("link"));
			Files.delete(shared);
		}
	}

	/** As {@code /dev/stdout} is if the output goes to a file. */
	@Test
	void anOpenFileOfTheProcessIsNotReplaced() throws IOException {
		Path file = Files.createFile(this.directory.resolve("file")).toRealPath();
		Object inode = Files.getAttribute(file, "unix:ino");
		try (FileChannel _ = FileChannel.open(file, StandardOpenOption.WRITE)) {
			Path open = descriptor(file);
			Path link = Files.createSymbolicLink(this.directory.resolve("link"), open);
			Path second = Files.createSymbolicLink(this.directory.resolve("second"), link);
			for (Path path : List.of(open, upwards(open), link, second)) {
				Files.writeString(file, "before");
				AtomicFile.write(path, "after".getBytes(StandardCharsets.UTF_8));
				assertThat(file).hasContent("after");
				assertThat(Files.getAttribute(file, "unix:ino")).isEqualTo(inode);
			}
		}
	}

	/** The same path by way of the test's directory. */
	private Path upwards(Path path) {
		Path root = this.directory.toAbsolutePath();
		for (Path _ : this.directory.toAbsolutePath()) {
			root = root.resolve("..");
		}
		return root.resolve(Path.of("/").relativize(path));
	}

	private static Path descriptor(Path file) throws IOException {
		try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
			return all.filter((link) -> Files.exists(link) && leadsTo(link, file)).findFirst().orElseThrow();
		}
	}

	private static boolean leadsTo(Path link, Path file) {
		try {
			return Files.isSameFile(link, file);
		}
		catch (IOException ex) {
			return false;
		}
	}

}
