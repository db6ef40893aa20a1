package io.tutti.service.recorder;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.EngineSettings;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(60)
class FailureFolderTest {

	private static final Instant BEGIN = Instant.parse("2026-11-21T05:00:00Z");

	@TempDir
	private Path parent;

	@Test
	void aFileIsWrittenWithoutLeftoversAndNamesItsRankAndTime() throws IOException {
		Path folder = this.parent.resolve("made/on/demand");
		Path file = new FailureFolder(folder, "night/1", 3, 2).write("{}".getBytes(), BEGIN);
		assertThat(file).hasParent(folder)
			.hasFileName("tutti-flight-recorder-night_1-" + Integer.toHexString("night/1".hashCode())
					+ "-r3-20261121T050000.000Z.json")
			.hasContent("{}");
		assertThat(names(folder)).hasSize(1);
	}

	/** A name of a file has at most 255 bytes. */
	@Test
	void aLongJobIdIsCutAndItsFilesStayApartFromThoseOfAnother() throws IOException {
		String job = "x".repeat(EngineSettings.MAX_NAME_CHARACTERS);
		Path file = new FailureFolder(this.parent, job, 65_535, 1).write("{}".getBytes(), BEGIN);
		new FailureFolder(this.parent, job.replaceFirst("x$", "y"), 65_535, 1).write("{}".getBytes(),
				BEGIN.plusSeconds(1));
		assertThat(file).exists();
		assertThat(file.getFileName().toString())
			.startsWith("tutti-flight-recorder-" + "x".repeat(100) + "-" + Integer.toHexString(job.hashCode()) + "-r");
	}

	@Test
	void onlyTheNewestOfThisRankAreKept() throws IOException {
		Path stranger = Files.writeString(this.parent.resolve("tutti-flight-recorder-a-r12-20200101T000000.000Z.json"),
				"");
		FailureFolder folder = new FailureFolder(this.parent, "a", 1, 2);
		for (int second = 0; second < 5; second++) {
			folder.write(new byte[] { 1 }, BEGIN.plusSeconds(second));
		}
		assertThat(names(this.parent)).containsExactlyInAnyOrder(stranger.getFileName().toString(),
				"tutti-flight-recorder-a-r1-20261121T050003.000Z.json",
				"tutti-flight-recorder-a-r1-20261121T050004.000Z.json");
	}

	@Test
	void filesOfOtherJobsAreKept() throws IOException {
		List<Path> others = new ArrayList<>();
		for (String job : List.of("b", "a-r1", "default", "s_3", "s 3", "s/3")) {
			others.add(new FailureFolder(this.parent, job, 1, 1).write(new byte[] { 1 }, BEGIN));
		}
		new FailureFolder(this.parent, "a", 1, 1).write(new byte[] { 1 }, BEGIN.plusSeconds(1));
		assertThat(others).doesNotHaveDuplicates().allSatisfy((file) -> assertThat(file).exists());
	}

	@Test
	void anOldIncompleteFileOfThisRankIsRemoved() throws IOException {
		Path old = Files.writeString(this.parent.resolve("tutti-flight-recorder-a-r1-17364.part"), "{");
		Files.setLastModifiedTime(old, FileTime.from(Instant.now().minusSeconds(90)));
		Path inUse = Files.writeString(this.parent.resolve("tutti-flight-recorder-a-r1-17365.part"), "{");
		Path other = Files.writeString(this.parent.resolve("tutti-flight-recorder-a-r12-17364.part"), "{");
		Path file = new FailureFolder(this.parent, "a", 1, 1).write(new byte[] { 1 }, BEGIN);
		assertThat(names(this.parent)).containsExactlyInAnyOrder(file.getFileName().toString(),
				inUse.getFileName().toString(), other.getFileName().toString());
	}

	@Test
	void jobsWithoutAnIdHaveNamesOfTheirOwnInEachProcess() {
		assertThat(FailureFolder.nameOf("night", RankAssignment.single())).isEqualTo("night");
		assertThat(FailureFolder.nameOf("default", RankAssignment.onOneHost(1, 2, 29501)))
			.isEqualTo(FailureFolder.nameOf("default", RankAssignment.onOneHost(0, 2, 29501)))
			.startsWith("127.0.0.1-29501-" + ProcessHandle.current().pid() + "-")
			.isNotEqualTo(FailureFolder.nameOf("default", RankAssignment.onOneHost(1, 2, 29502)));
	}

	@Test
	void aFileThatCannotBeRemovedDoesNotPreventTheNewOne() throws IOException {
		Files.createDirectories(this.parent.resolve("tutti-flight-recorder-a-r1-20200101T000000.000Z.json/not-empty"));
		Path file = new FailureFolder(this.parent, "a", 1, 1).write(new byte[] { 1 }, BEGIN);
		assertThat(file).exists();
	}

	private static List<String> names(Path folder) throws IOException {
		try (Stream<Path> files = Files.list(folder)) {
			return files.map((file) -> file.getFileName().toString()).toList();
		}
	}

}
