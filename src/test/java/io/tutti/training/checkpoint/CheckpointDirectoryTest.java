package io.tutti.training.checkpoint;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import io.tutti.training.checkpoint.CheckpointDirectory.Owner;
import io.tutti.training.checkpoint.CheckpointDirectory.SupersededException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

class CheckpointDirectoryTest {

	private static final long JOB = 0x1234_5678_9abc_def0L;

	private static final CheckpointDirectory.Content CONTENT = (path) -> Files.writeString(path.resolve("data"), "x");

	@TempDir
	private Path path;

	@Test
	void aLaterGenerationWritesWhileAStoppedProcessHoldsTheLock() throws Exception {
		try (CheckpointDirectory stopped = new CheckpointDirectory(this.path, new Owner(JOB, 3))) {
			stopped.add(10, CONTENT);
			try (CheckpointDirectory later = new CheckpointDirectory(this.path, new Owner(JOB, 4))) {
				later.add(20, CONTENT);
				assertThatThrownBy(() -> stopped.add(30, CONTENT)).isInstanceOf(SupersededException.class);
				assertThatThrownBy(() -> stopped.prune(1)).isInstanceOf(SupersededException.class);
				later.add(40, CONTENT);
				later.prune(2);
			}
			assertThatThrownBy(() -> stopped.add(50, CONTENT)).as("after the end of the later generation")
				.isInstanceOf(SupersededException.class);
		}
		assertThat(steps()).containsExactly(40L, 20L);
		assertThat(names()).filteredOn((name) -> name.endsWith(".tmp")).isEmpty();
	}

	@Test
	void nothingIsLeftOfACheckpointForWhichTheMemoryIsTooSmall() throws Exception {
		try (CheckpointDirectory checkpoints = new CheckpointDirectory(this.path)) {
			assertThatThrownBy(() -> checkpoints.add(10, (temporary) -> {
				CONTENT.writeTo(temporary);
				throw new OutOfMemoryError("of the test");
			})).isInstanceOf(OutOfMemoryError.class);
			assertThat(names()).filteredOn((name) -> name.endsWith(".tmp")).isEmpty();
			checkpoints.add(10, CONTENT);
		}
		assertThat(steps()).containsExactly(10L);
	}

	@Test
	void aProcessThatIsStoppedInsideAWritePublishesNothingAfterwards() throws Exception {
		try (CheckpointDirectory stopped = new CheckpointDirectory(this.path, new Owner(JOB, 3))) {
			assertThatThrownBy(() -> stopped.add(10, (temporary) -> {
				try (CheckpointDirectory later = new CheckpointDirectory(this.path, new Owner(JOB, 7))) {
					later.add(10, CONTENT);
				}
				CONTENT.writeTo(temporary);
			})).isInstanceOf(SupersededException.class);
		}
		assertThat(steps()).containsExactly(10L);
	}

	@Test
	void aFailedWriteOfASupersededGenerationIsNoError() throws Exception {
		try (CheckpointDirectory stopped = new CheckpointDirectory(this.path, new Owner(JOB, 3))) {
			assertThatThrownBy(() -> stopped.add(10, (temporary) -> {
				new CheckpointDirectory(this.path, new Owner(JOB, 4)).close();
				throw new IOException("its directory is gone");
			})).isInstanceOf(SupersededException.class);
		}
	}

	@Test
	void anEarlierGenerationThatComesLateDoesNotWrite() throws Exception {
		try (CheckpointDirectory first = new CheckpointDirectory(this.path, new Owner(JOB, 1));
				CheckpointDirectory third = new CheckpointDirectory(this.path, new Owner(JOB, 3))) {
			assertThatIllegalStateException()
				.isThrownBy(() -> new CheckpointDirectory(this.path, new Owner(JOB, 2)).close())
				.withMessageContaining("in use");
			third.add(10, CONTENT);
			assertThatThrownBy(() -> first.add(11, CONTENT)).isInstanceOf(SupersededException.class);
		}
	}

	@Test
	void theCheckpointOfEachStepThatProgressAllowsIsFound() throws Exception {
		long last = 999_999_999_999_999_999L;
		try (CheckpointDirectory directory = new CheckpointDirectory(this.path)) {
			directory.add(new Progress(last, 0, 0).step(), CONTENT);
		}
		assertThat(CheckpointFixture.steps(this.path)).containsExactly(last);
		assertThatIllegalArgumentException().isThrownBy(() -> new Progress(last + 1, 0, 0))
			.withMessageContaining("0..999999999999999999, got 1000000000000000000");
	}

	@Test
	void filesOfOthersAreLeftAlone() throws Exception {
		for (String name : List.of("notes.tmp", "step-1.tmp", "step-00000001.tmp.tmp", "step-00000001.tmpx")) {
			Files.writeString(this.path.resolve(name), "mine");
		}
		Files.createDirectories(this.path.resolve("cache.tmp").resolve("inner"));
		for (String name : List.of("step-00000001.tmp", "step-00000002.0.tmp", "step-00000003.7.old.tmp")) {
			Files.createDirectories(this.path.resolve(name).resolve("part"));
		}
		new CheckpointDirectory(this.path).close();
		assertThat(names()).containsExactlyInAnyOrder("notes.tmp", "step-1.tmp", "step-00000001.tmp.tmp",
				"step-00000001.tmpx", "cache.tmp", ".lock");
	}

	@ParameterizedTest
	@ValueSource(longs = { 0, JOB })
	void aNewJobNeitherContinuesFromNorDeletesCheckpointsOfAnEarlierOne(long job) throws Exception {
		try (CheckpointDirectory earlier = new CheckpointDirectory(this.path, new Owner(0, 0))) {
			for (long step : List.of(5L, 10L, 1000L)) {
				earlier.add(step, CONTENT);
			}
		}
		try (CheckpointDirectory next = new CheckpointDirectory(this.path, new Owner(job, 0))) {
			next.add(10, (path) -> Files.writeString(path.resolve("data"), "new"));
			next.prune(1);
			assertThat(steps()).containsExactly(10L);
			assertThat(this.path.resolve("step-00000010").resolve("data")).hasContent("new");
			assertThat(names()).contains("step-00000005.earlier", "step-00000010.earlier", "step-00001000.earlier");
		}
	}

	@ParameterizedTest
	@ValueSource(longs = { 0, JOB })
	void aFailedWriteLeavesTheCheckpointsOfAnEarlierJob(long job) throws Exception {
		try (CheckpointDirectory earlier = new CheckpointDirectory(this.path)) {
			earlier.add(10, CONTENT);
			earlier.add(20, CONTENT);
		}
		try (CheckpointDirectory next = new CheckpointDirectory(this.path, new Owner(job, 0))) {
			assertThatThrownBy(() -> next.add(10, (temporary) -> {
				CONTENT.writeTo(temporary);
				throw new IOException("the disk is full");
			})).hasMessage("the disk is full");
			assertThat(steps()).containsExactly(20L, 10L);
			next.add(10, (path) -> Files.writeString(path.resolve("data"), "new"));
		}
		assertThat(steps()).containsExactly(10L);
		assertThat(this.path.resolve("step-00000010").resolve("data")).hasContent("new");
	}

	/** One of them cannot get another name: a directory cannot replace a link. */
	@ParameterizedTest
	@ValueSource(longs = { 0, JOB })
	void aCheckpointThatCannotBePublishedLeavesAllOthersInPlace(long job) throws Exception {
		try (CheckpointDirectory earlier = new CheckpointDirectory(this.path)) {
			earlier.add(5, CONTENT);
			earlier.add(10, CONTENT);
		}
		Path link = Files.createSymbolicLink(this.path.resolve("step-00000005.earlier"), this.path.resolve("nothing"));
		try (CheckpointDirectory next = new CheckpointDirectory(this.path, new Owner(job, 0))) {
			assertThatThrownBy(() -> next.add(10, CONTENT)).isInstanceOf(IOException.class);
			assertThat(steps()).containsExactly(10L, 5L);
			Files.delete(link);
			next.add(10, CONTENT);
		}
		assertThat(steps()).containsExactly(10L);
		assertThat(names()).contains("step-00000005.earlier", "step-00000010.earlier");
	}

	/** A restart would restore those, and pruning keep them. */
	@Test
	void aJobThatHasGoneBackKeepsItsNewCheckpointAndSetsLaterOnesAside() throws Exception {
		try (CheckpointDirectory directory = new CheckpointDirectory(this.path)) {
			for (long step : List.of(50L, 80L, 100L, 60L)) {
				directory.add(step, CONTENT);
			}
			directory.prune(1);
		}
		assertThat(steps()).containsExactly(60L);
		assertThat(names()).contains("step-00000080.earlier", "step-00000100.earlier");
	}

	/** The first generation has ended before its first checkpoint. */
	@Test
	void aLaterGenerationSetsAsideWhatTheFirstHasFound() throws Exception {
		try (CheckpointDirectory earlier = new CheckpointDirectory(this.path)) {
			earlier.add(10, CONTENT);
			earlier.add(500, CONTENT);
		}
		for (int generation = 0; generation < 3; generation++) {
			new CheckpointDirectory(this.path, new Owner(JOB, generation)).close();
		}
		try (CheckpointDirectory fourth = new CheckpointDirectory(this.path, new Owner(JOB, 3))) {
			fourth.add(10, (path) -> Files.writeString(path.resolve("data"), "new"));
		}
		assertThat(steps()).containsExactly(10L);
		assertThat(this.path.resolve("step-00000010").resolve("data")).hasContent("new");
		assertThat(names()).contains("step-00000010.earlier", "step-00000500.earlier");
		try (CheckpointDirectory fifth = new CheckpointDirectory(this.path, new Owner(JOB, 4))) {
			fifth.add(10, CONTENT);
		}
		assertThat(this.path.resolve("step-00000010").resolve("data")).as("of the same job").hasContent("new");
	}

	/** Otherwise the loss of a process at once could lose the step. */
	@Test
	void aJobThatContinuesSetsNothingAside() throws Exception {
		try (CheckpointDirectory earlier = new CheckpointDirectory(this.path)) {
			earlier.add(10, CONTENT);
		}
		try (CheckpointDirectory first = new CheckpointDirectory(this.path, new Owner(JOB, 0))) {
			first.continueFromNewest();
		}
		try (CheckpointDirectory second = new CheckpointDirectory(this.path, new Owner(JOB, 1))) {
			second.add(10, (path) -> Files.writeString(path.resolve("data"), "new"));
		}
		assertThat(this.path.resolve("step-00000010").resolve("data")).hasContent("x");
		assertThat(names()).doesNotContain("step-00000010.earlier");
	}

	@Test
	void aThirdJobKeepsWhatTheSecondHasSetAside() throws Exception {
		for (String content : List.of("first", "second", "third", "fourth")) {
			try (CheckpointDirectory job = new CheckpointDirectory(this.path)) {
				job.add(10, (path) -> Files.writeString(path.resolve("data"), content));
			}
		}
		assertThat(this.path.resolve("step-00000010.earlier").resolve("data")).hasContent("first");
		assertThat(this.path.resolve("step-00000010.earlier-2").resolve("data")).hasContent("second");
		assertThat(this.path.resolve("step-00000010.earlier-3").resolve("data")).hasContent("third");
		assertThat(steps()).containsExactly(10L);
	}

	/** The first one was published, and then its job failed and has gone back. */
	@Test
	void aSecondCheckpointOfAStepIsPublishedAndTheFirstSetAside() throws Exception {
		try (CheckpointDirectory directory = new CheckpointDirectory(this.path)) {
			directory.add(10, CONTENT);
			directory.add(10, (path) -> Files.writeString(path.resolve("data"), "new"));
		}
		assertThat(this.path.resolve("step-00000010").resolve("data")).hasContent("new");
		assertThat(this.path.resolve("step-00000010.earlier").resolve("data")).hasContent("x");
	}

	/** Both have the state after this step. */
	@Test
	void aLaterGenerationKeepsTheCheckpointOfAnEarlierOne() throws Exception {
		try (CheckpointDirectory first = new CheckpointDirectory(this.path, new Owner(JOB, 0))) {
			first.add(10, CONTENT);
		}
		try (CheckpointDirectory second = new CheckpointDirectory(this.path, new Owner(JOB, 1))) {
			second.add(10, (path) -> Files.writeString(path.resolve("data"), "new"));
		}
		assertThat(this.path.resolve("step-00000010").resolve("data")).hasContent("x");
	}

	@Test
	void anotherJobIsKeptOutAlsoWhenTheStoppedProcessHasEnded() throws Exception {
		CheckpointDirectory stopped = new CheckpointDirectory(this.path, new Owner(JOB, 3));
		try (CheckpointDirectory later = new CheckpointDirectory(this.path, new Owner(JOB, 4))) {
			requireInUse(new Owner(JOB + 1, 9));
			stopped.close();
			requireInUse(new Owner(JOB + 1, 9));
			requireInUse(new Owner(0, 0));
			later.add(10, CONTENT);
		}
		new CheckpointDirectory(this.path, new Owner(JOB + 1, 0)).close();
		assertThat(names()).filteredOn((name) -> name.startsWith(".claim"))
			.as("claims of other jobs are deleted")
			.singleElement()
			.asString()
			.endsWith("-0");
		new CheckpointDirectory(this.path).close();
		assertThat(names()).containsExactlyInAnyOrder("step-00000010", ".lock");
	}

	private void requireInUse(Owner owner) {
		assertThatIllegalStateException().isThrownBy(() -> new CheckpointDirectory(this.path, owner).close())
			.withMessageContaining("in use by another job: process");
	}

	@Test
	void onlyTheNewestClaimIsKept() throws Exception {
		for (int generation = 0; generation < 5; generation++) {
			new CheckpointDirectory(this.path, new Owner(JOB, generation)).close();
		}
		assertThat(names()).containsExactlyInAnyOrder(".lock", ".claim-123456789abcdef0-4");
	}

	private Stream<Long> steps() throws IOException {
		return CheckpointDirectory.list(this.path).stream().map(CheckpointDirectory.Entry::step);
	}

	private Stream<String> names() throws IOException {
		return Files.list(this.path).map((file) -> file.getFileName().toString());
	}

}
