package io.tutti.engine.transport.shm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(60)
class SegmentDirectoryTest {

	private static final String JOB = "0123456789abcdef";

	@TempDir
	private Path directory;

	private SegmentDirectory segments() {
		return new SegmentDirectory(new SharedMemorySettings(this.directory, "a job"));
	}

	@Test
	void aNameIdentifiesItsOwnerAndIsParsedBack() throws IOException {
		String name = segments().newName();
		SegmentName read = SegmentName.parse(name);
		assertThat(read).isNotNull().hasToString(name);
		assertThat(read.owner()).isEqualTo(ProcessIdentity.current());
		assertThat(read.user()).isEqualTo(SegmentName.currentUser());
		assertThat(segments().newName()).isNotEqualTo(name);
		assertThat(name).doesNotContain("a job");
	}

	@Test
	void aNameFromAPeerNeverLeavesTheDirectory() {
		for (String name : new String[] { "../../etc/passwd", "tutti-0-x", "", "tutti-0-" + JOB + "-1-1-1-", "/" }) {
			assertThatThrownBy(() -> segments().file(name)).isInstanceOf(IOException.class)
				.hasMessageContaining("no name of a shared segment");
		}
	}

	@Test
	void segmentsOfADeadProcessAreSwept() throws Exception {
		Process process = new ProcessBuilder("sleep", "60").start();
		ProcessIdentity dead = new ProcessIdentity(process.pid(), startOf(process.pid()),
				ProcessIdentity.current().namespace());
		Path file = leave(SegmentName.currentUser(), dead);
		assertThat(segments().sweep()).as("while its owner lives").isZero();
		process.destroyForcibly().waitFor();
		assertThat(segments().sweep()).isEqualTo(1);
		assertThat(file).doesNotExist();
	}

	@Test
	void segmentsOfADeadProcessAreSweptAlsoIfItsPidIsReused() throws IOException {
		Path file = leave(SegmentName.currentUser(), dead());
		assertThat(segments().sweep()).isEqualTo(1);
		assertThat(file).doesNotExist();
	}

	@Test
	void aSegmentThatCannotBeRemovedIsKeptAndTheOthersAreSwept() throws IOException {
		leave(SegmentName.currentUser(), dead());
		Irremovable.replaceIn(this.directory);
		ProcessIdentity dead = new ProcessIdentity(dead().pid(), dead().startTicks() - 1, dead().namespace());
		Path file = leave(SegmentName.currentUser(), dead);
		assertThat(segments().sweep()).isEqualTo(1);
		assertThat(file).doesNotExist();
		assertThat(this.directory).isNotEmptyDirectory();
	}

	@Test
	void aNameHasTheLargestUserId() {
		SegmentName name = new SegmentName(0xffff_fffeL, JOB, new ProcessIdentity(1, 2, 3), 4);
		assertThat(name.toString()).startsWith("tutti-4294967294-");
		assertThat(SegmentName.parse(name.toString())).isEqualTo(name);
	}

	/** A process that has ended; this one has its number. */
	private static ProcessIdentity dead() throws IOException {
		ProcessIdentity self = ProcessIdentity.current();
		return new ProcessIdentity(self.pid(), self.startTicks() - 1, self.namespace());
	}

	@Test
	void segmentsInUseOrOfOthersOrOfOtherNamespacesAreKept() throws IOException {
		ProcessIdentity self = ProcessIdentity.current();
		long user = SegmentName.currentUser();
		leave(user, self);
		leave(user + 1, dead());
		leave(user, new ProcessIdentity(self.pid(), self.startTicks() - 1, self.namespace() + 1));
		Files.createFile(this.directory.resolve("tutti-" + user + "-something-else"));
		assertThat(segments().sweep()).isZero();
		assertThat(this.directory).isDirectoryContaining("glob:**tutti-" + user + "-something-else");
	}

	private Path leave(long user, ProcessIdentity owner) throws IOException {
		return Files.createFile(this.directory.resolve(new SegmentName(user, JOB, owner, 1).toString()));
	}

	private static long startOf(long pid) throws IOException {
		String stat = Files.readString(Path.of("/proc/" + pid + "/stat"));
		return Long.parseLong(stat.substring(stat.lastIndexOf(')') + 2).split(" ")[19]);
	}

}
