package io.tutti.engine.transport.shm;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;

import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.NativeMemory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(60)
class SharedSegmentTest {

	private static final long BYTES = 3 * (1 << 20) + 4096;

	private final Deadline limit = Deadline.after(Duration.ofSeconds(30));

	@TempDir
	private Path directory;

	@Test
	void writesThroughOneMappingAreVisibleThroughAnother() throws IOException {
		Path file = this.directory.resolve("segment");
		try (SharedSegment made = SharedSegment.create(file, BYTES, this.limit);
				SharedSegment opened = SharedSegment.open(file, BYTES)) {
			NativeMemory.putLong(made.address() + BYTES - Long.BYTES, 42);
			assertThat(NativeMemory.getLong(opened.address() + BYTES - Long.BYTES)).isEqualTo(42);
			assertThat(opened.address()).isNotEqualTo(made.address());
		}
	}

	@Test
	void theMemoryStaysValidAfterUnlink() throws IOException {
		Path file = this.directory.resolve("segment");
		try (SharedSegment made = SharedSegment.create(file, BYTES, this.limit);
				SharedSegment opened = SharedSegment.open(file, BYTES)) {
			made.unlink();
			assertThat(file).doesNotExist();
			NativeMemory.putLong(made.address(), 7);
			assertThat(NativeMemory.getLong(opened.address())).isEqualTo(7);
		}
	}

	@Test
	void itsSpaceIsReservedAndOnlyItsUserMayOpenIt() throws IOException {
		Path file = this.directory.resolve("segment");
		try (SharedSegment made = SharedSegment.create(file, BYTES, this.limit)) {
			assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file))).isEqualTo("rw-------");
			assertThat(file).hasSize(BYTES);
			assertThat(made.memory().byteSize()).isEqualTo(BYTES);
		}
	}

	@Test
	void anExistingFileIsNotOverwritten() throws IOException {
		Path file = Files.writeString(this.directory.resolve("segment"), "somebody's");
		assertThatThrownBy(() -> SharedSegment.create(file, BYTES, this.limit))
			.isInstanceOf(FileAlreadyExistsException.class);
		assertThat(file).hasContent("somebody's");
	}

	@Test
	void aFileOfAnotherSizeIsRejected() throws IOException {
		Path file = Files.writeString(this.directory.resolve("segment"), "short");
		assertThatThrownBy(() -> SharedSegment.open(file, BYTES)).isInstanceOf(IOException.class)
			.hasMessageContaining("must have " + BYTES + " bytes, has 5");
	}

	@Test
	void aSymbolicLinkIsNotFollowed() throws IOException {
		Path file = this.directory.resolve("segment");
		try (SharedSegment made = SharedSegment.create(file, BYTES, this.limit)) {
			Path link = Files.createSymbolicLink(this.directory.resolve("link"), file);
			assertThat(made.memory().byteSize()).isEqualTo(BYTES);
			assertThatThrownBy(() -> SharedSegment.open(link, BYTES)).isInstanceOf(IOException.class);
		}
	}

	@Test
	void aReservationEndsAtItsDeadlineAndLeavesNoFile() {
		Deadline passed = Deadline.after(Duration.ofNanos(1));
		Path file = this.directory.resolve("segment");
		assertThatThrownBy(() -> SharedSegment.create(file, BYTES, passed)).isInstanceOf(IOException.class)
			.hasMessage("reserving 4 MiB in " + this.directory + " took longer than 0 ms");
		assertThat(file).doesNotExist();
	}

	@Test
	void tooLittleSpaceFailsWithAClearMessageAndLeavesNoFile() throws Exception {
		try (SmallDirectory small = SmallDirectory.mount(this.directory)) {
			Path file = small.path().resolve("segment");
			assertThatThrownBy(() -> SharedSegment.create(file, BYTES, this.limit)).isInstanceOf(IOException.class)
				.hasMessageContaining("needs 4 MiB in " + small.path() + ", 1 MiB are free")
				.hasMessageContaining("--shm-size");
			assertThat(file).doesNotExist();
		}
	}

}
