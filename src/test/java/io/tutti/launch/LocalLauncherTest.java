package io.tutti.launch;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ref.WeakReference;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIOException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/**
 * The launcher with small shell programs. The shell also replaces Tutti's own program, so
 * that {@code serve} and {@code train} run shell scripts.
 */
@Order(3)
@Timeout(60)
class LocalLauncherTest {

	private static final LaunchTimings TIMINGS = new LaunchTimings(Duration.ofMillis(600), Duration.ofMillis(400),
			Duration.ofMillis(1500), Duration.ofMillis(900), Duration.ofSeconds(5), Duration.ofSeconds(40));

	/** Longer than any rank takes to end by itself. */
	private static final Duration LIMIT = Duration.ofSeconds(40);

	/** For ranks that end by themselves, however busy the machine is. */
	private static final LaunchTimings PATIENT = patient(TIMINGS.notice());

	/**
	 * In the script of a rank: waits until the launcher knows of the end of another one.
	 */
	private static final String UNTIL_NOTICED = "while [ ! -e noticed ]; do sleep 0.05; done; ";

	@TempDir
	private Path directory;

	private final ByteArrayOutputStream out = new ByteArrayOutputStream();

	private final ByteArrayOutputStream err = new ByteArrayOutputStream();

	@AfterEach
	void noRankIsLeft() {
		await().untilAsserted(() -> assertThat(pidsWritten().filter(LocalLauncherTest::runs)).isEmpty());
	}

	@Test
	void everyRankGetsTorchrunsEnvironment() throws Exception {
		int code = launcher(program("""
				echo $RANK $WORLD_SIZE $LOCAL_RANK $LOCAL_WORLD_SIZE $GROUP_RANK $MASTER_ADDR $MASTER_PORT \
				$TORCHELASTIC_RESTART_COUNT $TORCHELASTIC_MAX_RESTARTS $EXTRA $TUTTI_LAUNCHER_PID"""), 2, 0).run();
		String rest = " 0 127.0.0.1 4242 0 0 more " + ProcessHandle.current().pid();
		assertThat(code).isZero();
		assertThat(outLines()).containsExactlyInAnyOrder("[0] 0 2 0 2" + rest, "[1] 1 2 1 2" + rest);
	}

	@Test
	void ranksOfTheSecondMachineFollowThoseOfTheFirst() throws Exception {
		LaunchPlan plan = new LaunchPlan(program("echo $RANK/$WORLD_SIZE $LOCAL_RANK $GROUP_RANK $TORCHELASTIC_RUN_ID"),
				2, 3, 1, "host0", 29500, 0, null, Map.of());
		assertThat(launcher(plan).run()).isZero();
		assertThat(outLines()).containsExactlyInAnyOrder("[2] 2/6 0 1 host0:29500", "[3] 3/6 1 1 host0:29500");
	}

	@Test
	void standardOutputAndStandardErrorAreKeptSeparate() throws Exception {
		launcher(program("echo good; echo bad >&2"), 2, 0).run();
		assertThat(outLines()).containsExactlyInAnyOrder("[0] good", "[1] good");
		assertThat(errLines()).containsExactlyInAnyOrder("[0] bad", "[1] bad");
	}

	/** Of a program, two lines could be mixed up that it writes in parts. */
	@Test
	void oneFileHasTheLinesOfACommandInTheirOrder() throws Exception {
		LaunchConsole console = new LaunchConsole(this.out, false, this.out, false);
		LaunchedCommand command = LaunchedCommand.of(List.of("train"),
				own("i=0; while [ $i -lt 100 ]; do echo $i; echo $i >&2; i=$((i + 1)); done"));
		assertThat(new LocalLauncher(plan(command, 1, 0), TIMINGS, console).run()).isZero();
		assertThat(outLines())
			.containsExactlyElementsOf(IntStream.range(0, 200).mapToObj((line) -> "[0] " + line / 2).toList());
	}

	@Test
	void aMachineFormatPassesRankZerosOutputAndSendsTheRestToStandardError() throws Exception {
		LaunchedCommand command = LaunchedCommand.of(List.of("bench", "--format", "tsv"),
				own("printf 'a\\tb\\r\\nno line end'; [ $RANK = 0 ] && echo why >&2; exit 0"));
		assertThat(launcher(command, 2, 0).run()).isZero();
		assertThat(this.out.toString(StandardCharsets.UTF_8)).isEqualTo("a\tb\r\nno line end");
		assertThat(errLines()).containsExactlyInAnyOrder("[0] why", "[1] a\tb", "[1] no line end");
	}

	@Test
	void theExitCodeIsThatOfTheFirstRankToFail() throws Exception {
		LaunchedCommand command = program("[ $RANK = 2 ] && exit 3; " + UNTIL_NOTICED + "exit 4");
		assertThat(runInOrder(plan(command, 4, 0))).isEqualTo(3);
	}

	@Test
	void aRankThatEndsBeforeTheOneThatAbortedItIsNotTheFirstToFail() throws Exception {
		assertThat(runInOrder(plan(train("[ $RANK = 1 ] && exit 80; " + UNTIL_NOTICED + "exit 64"), 3, 0)))
			.isEqualTo(64);
		assertThat(errLinesWithoutNotices()).singleElement()
			.asString()
			.matches("tutti launch: rank [02] ended with 64; .*rank 1 80.*");
		assertThat(runInOrder(plan(train("[ $RANK = 1 ] && exit 80; " + UNTIL_NOTICED + "exit 79"), 2, 0)))
			.isEqualTo(79);
		assertThat(runInOrder(plan(train("[ $RANK = 1 ] && exit 76; " + UNTIL_NOTICED + "kill -9 $$"), 2, 0)))
			.isEqualTo(137);
		assertThat(runInOrder(plan(train("[ $RANK = 1 ] && exit 76; " + UNTIL_NOTICED + "exit 79"), 2, 0)))
			.isEqualTo(76);
	}

	@Test
	void aSignalOfTheLauncherIsNotTheCauseOfAnEarlierExit() throws Exception {
		assertThat(launcher(train("[ $RANK = 1 ] && exit 80; exec sleep 100"), 2, 0).run()).isEqualTo(80);
		assertThat(lastErrLine()).contains("rank 1 ended with 80", "rank 0 143 (SIGTERM)");
	}

	/** Its code says that a restart cannot help. */
	@Test
	void aProgramThatLostItsPeerIsNotTheFirstToFailEither() throws Exception {
		assertThat(runInOrder(plan(program("[ $RANK = 0 ] && exit 76; " + UNTIL_NOTICED + "exit 65"), 2, 2)))
			.isEqualTo(65);
		assertThat(errLinesWithoutNotices()).singleElement().asString().doesNotContain("restarting");
	}

	@Test
	void ranksThatDoNotEndByThemselvesAreTerminated() throws Exception {
		int code = launcher(program("[ $RANK = 1 ] && exit 3; exec sleep 100"), 4, 0).run();
		assertThat(code).isEqualTo(3);
		assertThat(lastErrLine()).startsWith("tutti launch: rank 1 ended with 3; the others ended with: ")
			.contains("rank 0 143 (SIGTERM)", "rank 2 143 (SIGTERM)", "rank 3 143 (SIGTERM)");
		assertThat(this.err.toString(StandardCharsets.UTF_8)).contains("ranks 0, 2, 3 did not end within 0.6 s");
	}

	@Test
	void ranksThatEndByThemselvesAreNotTerminated() throws Exception {
		LaunchedCommand command = program("[ $RANK = 1 ] && kill -9 $$; " + UNTIL_NOTICED + "exit 76");
		assertThat(runInOrder(plan(command, 3, 0))).isEqualTo(137);
		assertThat(errLinesWithoutNotices()).singleElement()
			.asString()
			.startsWith("tutti launch: rank 1 ended with 137 (SIGKILL); the others ended with: ")
			.contains("rank 0 76", "rank 2 76");
	}

	@Test
	void aRankThatIgnoresSigtermIsKilled() throws Exception {
		int code = launcher(program("[ $RANK = 0 ] && { while [ ! -e ready-1 ]; do sleep 0.05; done; exit 5; }; "
				+ "trap '' TERM; touch ready-1; while :; do sleep 0.1; done"), 2, 0)
			.run();
		assertThat(code).isEqualTo(5);
		assertThat(lastErrLine()).contains("rank 1 137 (SIGKILL)");
	}

	@Test
	void aSuspendedRankIsKilledToo() throws Exception {
		int code = launcher(program("[ $RANK = 0 ] && kill -STOP $$; "
				+ "until grep -q '^State:.T' /proc/$(cat rank-0-0.pid)/status; do sleep 0.05; "
				+ "done 2> /dev/null; exit 6"), 2, 0)
			.run();
		assertThat(code).isEqualTo(6);
		assertThat(lastErrLine()).contains("rank 1 ended with 6", "rank 0 137 (SIGKILL)");
	}

	@Test
	void childProcessesOfARankEndWithIt() throws Exception {
		int code = launcher(program("[ $RANK = 0 ] && { while [ ! -s child.pid ]; do sleep 0.05; done; exit 5; }; "
				+ "sleep 100 & echo $! > child.pid; wait"), 2, 0)
			.run();
		assertThat(code).isEqualTo(5);
		assertThat(this.directory.resolve("child.pid")).exists();
	}

	@Test
	void theWholeGroupIsRestarted() throws Exception {
		int code = launcher(program("echo $TORCHELASTIC_RESTART_COUNT >> starts-$RANK; "
				+ "[ $TORCHELASTIC_RESTART_COUNT = 2 ] && exit 0; [ $RANK = 0 ] && exec sleep 100; "
				+ "until grep -q $TORCHELASTIC_RESTART_COUNT starts-0; do sleep 0.05; done 2> /dev/null; exit 9"), 2, 2)
			.run();
		assertThat(code).isZero();
		assertThat(this.directory.resolve("starts-0")).hasContent("0\n1\n2");
		assertThat(this.directory.resolve("starts-1")).hasContent("0\n1\n2");
		assertThat(this.err.toString(StandardCharsets.UTF_8)).contains("restarting the group (1 of 2)",
				"restarting the group (2 of 2)");
	}

	/** It would go on as a rank of the group before. */
	@Test
	void whatTheRanksHaveStartedEndsBeforeTheGroupIsRestarted() throws Exception {
		LaunchedCommand command = program("""
				if [ $TORCHELASTIC_RESTART_COUNT = 1 ]; then
				[ $RANK = 0 ] && cat $(sed 's|.*|/proc/&/cmdline|' child-*.pid) > left; exit 0; fi
				(sleep 100 & echo $! > child-$RANK.pid; wait) > out-$RANK 2>&1 &
				while [ ! -s child-0.pid ] || [ ! -s child-1.pid ]; do sleep 0.05; done
				[ $RANK = 0 ] || exit 0
				while kill -0 $(cat rank-1-0.pid); do sleep 0.05; done
				exit 9""");
		assertThat(launcher(plan(command, 2, 1), PATIENT).run()).isZero();
		assertThat(this.directory.resolve("left")).isEmptyFile();
	}

	@Test
	void everyRestartUsesAnotherRendezvousPort() throws Exception {
		LaunchPlan plan = new LaunchPlan(program("echo $MASTER_PORT; exit 1"), 1, 1, 0, "127.0.0.1", null, 2, null,
				Map.of());
		assertThat(launcher(plan).run()).isEqualTo(1);
		assertThat(outLines()).hasSize(3).doesNotHaveDuplicates();
	}

	@Test
	void restartsAreCounted() throws Exception {
		int code = launcher(program("echo x >> starts; exit 7"), 1, 2).run();
		assertThat(code).isEqualTo(7);
		assertThat(this.directory.resolve("starts")).hasContent("x\nx\nx");
	}

	/** The codes of Tutti's commands are those of programs on the library. */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void anExitThatARestartCannotFixIsNotRestarted(boolean job) throws Exception {
		String script = "echo x >> starts; exit 79";
		LaunchedCommand command = job ? LaunchedCommand.of(List.of("train"), own(script)) : program(script);
		assertThat(launcher(command, 1, 5).run()).isEqualTo(79);
		assertThat(this.directory.resolve("starts")).hasContent("x");
	}

	@Test
	void aDrainingGroupGetsTheDrainTimeout() throws Exception {
		LaunchedCommand command = LaunchedCommand.of(List.of("train"),
				own("[ $RANK = 1 ] && exit 79; sleep 1; exit 79"));
		assertThat(launcher(plan(command, 2, 0), draining(LIMIT)).run()).isEqualTo(79);
		assertThat(errLines()).containsExactly("tutti launch: stopped on request; every rank ended with 79");
	}

	@Test
	void aStopDoesNotCutOffARunningDrain() throws Exception {
		LaunchTimings timings = draining(LIMIT);
		LaunchedCommand command = train("[ $RANK = 1 ] && { while [ ! -e ready-0 ]; do sleep 0.05; done; exit 79; }; "
				+ "trap 'sleep 1; exit 79' TERM; touch ready-0; "
				+ "while [ ! -e rank-1-0.pid ] || kill -0 $(cat rank-1-0.pid); do sleep 0.05; done 2> /dev/null; "
				+ "touch alone; while :; do sleep 0.05; done");
		LocalLauncher launcher = new LocalLauncher(plan(command, 2, 0), timings,
				new LaunchConsole(this.out, false, this.err, false));
		CompletableFuture<Integer> code = start(launcher);
		awaitFiles("alone");
		launcher.stop();
		assertThat(code.get(20, TimeUnit.SECONDS)).isEqualTo(79);
		assertThat(errLines()).containsExactly("tutti launch: stopped on request; every rank ended with 79");
	}

	@Test
	void anIncompleteDrainNamesTheExitCodesOfAllRanks() throws Exception {
		LaunchedCommand command = LaunchedCommand.of(List.of("train"), own("[ $RANK = 1 ] && exit 79; exit 76"));
		assertThat(launcher(plan(command, 2, 0), PATIENT).run()).isIn(76, 79);
		assertThat(lastErrLine()).contains("rank 1", "79", "rank 0", "76");
	}

	@Test
	void servicesContinueWithoutALostRank() throws Exception {
		LaunchedCommand command = LaunchedCommand.of(List.of("serve"),
				own("[ $RANK = 1 ] && exit 70; while [ ! -e enough ]; do sleep 0.05; done; echo served"));
		LocalLauncher launcher = launcher(command, 3, 0);
		CompletableFuture<Integer> code = start(launcher);
		await().until(() -> this.err.toString(StandardCharsets.UTF_8)
			.contains("rank 1 ended with 70; the other ranks continue"));
		assertThat(code).isNotDone();
		Files.createFile(this.directory.resolve("enough"));
		assertThat(code.get(10, TimeUnit.SECONDS)).isEqualTo(70);
		assertThat(outLines()).containsExactlyInAnyOrder("[0] served", "[2] served");
	}

	@ParameterizedTest
	@ValueSource(ints = { 64, 77 })
	void servicesEndTogetherIfARankCannotStart(int code) throws Exception {
		LaunchedCommand command = LaunchedCommand.of(List.of("serve"),
				own("[ $RANK = 1 ] && exit " + code + "; sleep 100"));
		assertThat(start(launcher(command, 2, 0)).get(20, TimeUnit.SECONDS)).isEqualTo(code);
		assertThat(errLines()).noneMatch((line) -> line.contains("continue"));
		assertThat(lastErrLine()).contains("rank 1 ended with " + code);
	}

	@Test
	void aRankLostBeforeTheStopOfServicesIsNoFailureOfTheStop() throws Exception {
		LaunchedCommand command = LaunchedCommand.of(List.of("serve"), own(
				"[ $RANK = 1 ] && kill -9 $$; trap 'exit 0' TERM; touch ready-$RANK; while :; do sleep 0.05; done"));
		LocalLauncher launcher = launcher(plan(command, 3, 0), PATIENT);
		CompletableFuture<Integer> code = start(launcher);
		awaitFiles("ready-0", "ready-2");
		await().until(() -> this.err.toString(StandardCharsets.UTF_8).contains("the other ranks continue"));
		launcher.stop();
		assertThat(code.get(10, TimeUnit.SECONDS)).isZero();
		assertThat(errLines()).singleElement().asString().contains("rank 1 ended with 137 (SIGKILL)");
	}

	@Test
	void stoppingSendsSigtermToEveryRank() throws Exception {
		LaunchedCommand command = LaunchedCommand.of(List.of("serve"),
				own("trap 'exit 0' TERM; touch ready-$RANK; while :; do sleep 0.05; done"));
		LocalLauncher launcher = launcher(plan(command, 3, 0), PATIENT);
		CompletableFuture<Integer> code = start(launcher);
		awaitFiles("ready-0", "ready-1", "ready-2");
		launcher.stop();
		launcher.stop();
		assertThat(code.get(10, TimeUnit.SECONDS)).isZero();
	}

	/**
	 * The slow reader gives the JDK time to close the shell's output after the first
	 * line.
	 */
	@Test
	void aProgramInsideAShellScriptMaySaveItsWorkTooAndWriteOfIt() throws Exception {
		Files.writeString(this.directory.resolve("worker.sh"),
				"echo $$ > worker.pid; "
						+ "trap 'echo saving; sleep 0.5; echo still; touch saved; echo saved; exit 79' TERM; "
						+ "touch ready-0; while :; do sleep 0.05; done");
		SlowOutput slow = new SlowOutput(1000, Duration.ofMillis(300));
		LocalLauncher launcher = new LocalLauncher(plan(program("sh worker.sh; exit $?"), 1, 0), draining(LIMIT),
				new LaunchConsole(slow, false, this.err, false));
		CompletableFuture<Integer> code = start(launcher);
		awaitFiles("ready-0");
		launcher.stop();
		assertThat(code.get(20, TimeUnit.SECONDS)).isEqualTo(143);
		assertThat(this.directory.resolve("saved")).exists();
		assertThat(slow.toString(StandardCharsets.UTF_8)).isEqualTo("[0] saving\n[0] still\n[0] saved\n");
	}

	@Test
	void aProgramInsideAShellScriptThatIgnoresSigtermIsKilled() throws Exception {
		Files.writeString(this.directory.resolve("worker.sh"),
				"echo $$ > worker.pid; trap '' TERM; touch ready-0; while :; do sleep 0.05; done");
		LocalLauncher launcher = launcher(program("sh worker.sh; exit $?"), 1, 0);
		CompletableFuture<Integer> code = start(launcher);
		awaitFiles("ready-0");
		launcher.stop();
		assertThat(code.get(20, TimeUnit.SECONDS)).isEqualTo(143);
	}

	@Test
	void aStoppedGroupIsNotRestarted() throws Exception {
		LocalLauncher launcher = launcher(program("echo x >> starts; touch ready-$RANK; exec sleep 100"), 2, 5);
		CompletableFuture<Integer> code = start(launcher);
		awaitFiles("ready-0", "ready-1");
		launcher.stop();
		assertThat(code.get(10, TimeUnit.SECONDS)).isEqualTo(143);
		assertThat(this.directory.resolve("starts")).hasContent("x\nx");
	}

	@Test
	void aRankThatDoesNotStopInTimeIsKilled() throws Exception {
		LaunchedCommand command = LaunchedCommand.of(List.of("serve"),
				own("trap '' TERM; touch ready-$RANK; while :; do sleep 0.05; done"));
		LaunchTimings timings = new LaunchTimings(TIMINGS.leave(), TIMINGS.terminate(), TIMINGS.drain(),
				TIMINGS.serveStop(), TIMINGS.kill(), Duration.ofMillis(500));
		LocalLauncher launcher = launcher(plan(command, 1, 0), timings);
		CompletableFuture<Integer> code = start(launcher);
		awaitFiles("ready-0");
		launcher.stop();
		assertThat(code.get(10, TimeUnit.SECONDS)).isEqualTo(137);
		assertThat(this.err.toString(StandardCharsets.UTF_8)).contains("waiting for rank 0 to end; SIGKILL in 1 s",
				"rank 0 did not end within 0.9 s of SIGTERM");
	}

	@Test
	void aReaderThatPausesDoesNotDelayTheEndOfARank() throws Exception {
		PausedOutput output = new PausedOutput();
		LocalLauncher launcher = new LocalLauncher(
				plan(train("trap '' TERM; touch ready-0; while :; do sleep 0.05; done"), 1, 0), TIMINGS,
				new LaunchConsole(output, false, output, false));
		CompletableFuture<Integer> code = start(launcher);
		awaitFiles("ready-0");
		launcher.stop();
		await().until(() -> pidsWritten().noneMatch(LocalLauncherTest::runs));
		output.reads.countDown();
		assertThat(code.get(20, TimeUnit.SECONDS)).isEqualTo(137);
		assertThat(output.toString(StandardCharsets.UTF_8)).contains("rank 0 did not end within 1.5 s of SIGTERM");
	}

	@Test
	void aReaderThatPausesDelaysNeitherARestartNorAStop() throws Exception {
		PausedOutput output = new PausedOutput();
		LaunchedCommand command = LaunchedCommand.of(List.of("train"), own(
				"[ $RANK = 1 ] && [ ! -e once ] && touch once && kill -9 $$; trap 'exit 79' TERM; touch ready-$RANK; "
						+ "while :; do sleep 0.05; done"));
		LocalLauncher launcher = new LocalLauncher(elastic(command, 2, 1, 3), draining(LIMIT),
				new LaunchConsole(output, false, output, false));
		CompletableFuture<Integer> code = start(launcher);
		awaitFiles("ready-0", "ready-1");
		launcher.stop();
		await().until(() -> pidsWritten().noneMatch(LocalLauncherTest::runs));
		output.reads.countDown();
		assertThat(code.get(20, TimeUnit.SECONDS)).isEqualTo(79);
		assertThat(output.toString(StandardCharsets.UTF_8)).contains("rank 1 ended with 137 (SIGKILL); restarting it");
	}

	/** The pipe to a reader that has paused, and is full. */
	private static final class PausedOutput extends ByteArrayOutputStream {

		private final CountDownLatch reads = new CountDownLatch(1);

		@Override
		public void write(byte[] bytes, int offset, int length) {
			pause(this.reads);
			super.write(bytes, offset, length);
		}

	}

	private static void pause(CountDownLatch end) {
		try {
			end.await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	void aLauncherStoppedBeforeItRanEndsItsRanksAtOnce() throws Exception {
		LocalLauncher launcher = launcher(program("exec sleep 100"), 2, 0);
		launcher.stop();
		assertThat(launcher.run()).isEqualTo(143);
	}

	@Test
	void aMissingProgramIsNamed() {
		LaunchPlan plan = plan(LaunchedCommand.of(List.of("/no/such/program"), own("")), 2, 0);
		assertThatIOException().isThrownBy(() -> launcher(plan).run()).withMessageContaining("/no/such/program");
	}

	@Test
	void anUnexpectedFailureOfTheLauncherLeavesNoRank() {
		ByteArrayOutputStream failing = new ByteArrayOutputStream() {

			@Override
			public void write(byte[] bytes, int offset, int length) {
				throw new IllegalStateException("made to fail");
			}
		};
		LaunchedCommand command = LaunchedCommand.of(List.of("serve"), own("[ $RANK = 1 ] && exit 70; exec sleep 100"));
		LocalLauncher launcher = new LocalLauncher(plan(command, 2, 0), TIMINGS,
				new LaunchConsole(this.out, false, failing, false));
		assertThatIllegalStateException().isThrownBy(launcher::run).withMessage("made to fail");
	}

	@Test
	void aTimeLimitBeyondTheClockIsNone() throws Exception {
		LaunchTimings timings = draining(Duration.ofSeconds(Long.MAX_VALUE));
		LocalLauncher launcher = new LocalLauncher(
				plan(train("trap 'exit 79' TERM; touch ready-0; while :; do sleep 0.05; done"), 1, 0), timings,
				new LaunchConsole(this.out, false, this.err, false));
		CompletableFuture<Integer> code = start(launcher);
		awaitFiles("ready-0");
		launcher.stop();
		assertThat(code.get(20, TimeUnit.SECONDS)).isEqualTo(79);
	}

	@Test
	void onlyTheLostRankOfAnElasticJobIsRestarted() throws Exception {
		LaunchedCommand command = LaunchedCommand.of(List.of("train"),
				own("echo x >> starts-$RANK; "
						+ "[ $RANK = 1 ] && [ ! -e once ] && touch once && kill -9 $$; [ $RANK = 1 ] && touch enough; "
						+ "while [ ! -e enough ]; do sleep 0.05; done"));
		assertThat(launcher(elastic(command, 3, 2, 3), PATIENT).run()).isZero();
		assertThat(this.directory.resolve("starts-0")).hasContent("x");
		assertThat(this.directory.resolve("starts-1")).hasContent("x\nx");
		assertThat(this.directory.resolve("starts-2")).hasContent("x");
		assertThat(errLines())
			.containsExactly("tutti launch: rank 1 ended with 137 (SIGKILL); restarting it in 0.1 s (1 of 3)");
	}

	/** It would go on as the same rank, at the same endpoint. */
	@Test
	void whatALostRankHasStartedEndsBeforeItsReplacementStarts() throws Exception {
		LaunchedCommand command = program("""
				if [ $RANK = 0 ]; then while [ ! -e again ]; do sleep 0.05; done; exit 0; fi
				if [ -e child.pid ]; then cat /proc/$(cat child.pid)/cmdline > left; touch again; exit 0; fi
				(sleep 100 & echo $! > child.pid; wait) &
				while [ ! -s child.pid ]; do sleep 0.05; done
				kill -9 $$""");
		assertThat(launcher(elastic(command, 2, 1, 3)).run()).isZero();
		assertThat(this.directory.resolve("again")).exists();
		assertThat(this.directory.resolve("left")).isEmptyFile();
	}

	@Test
	void aLostRankIsForgottenWhenItsReplacementStarts() throws Exception {
		List<WeakReference<RankProcess>> started = new CopyOnWriteArrayList<>();
		LaunchPlan plan = elastic(
				train("[ -e once ] || { touch once; kill -9 $$; }; while [ ! -e enough ]; do sleep 0.05; done"), 1, 1,
				1);
		LaunchConsole console = new LaunchConsole(this.out, false, this.err, false);
		RankGroup group = new RankGroup(plan, TIMINGS, console, true, (localRank) -> {
			RankProcess process = RankProcess.start(0, localRank, plan.command(), console,
					(variables) -> variables.put("RANK", "0"));
			started.add(new WeakReference<>(process));
			return process;
		});
		group.start();
		CompletableFuture<GroupExit> end = new CompletableFuture<>();
		Thread.ofVirtual().start(() -> {
			try {
				end.complete(group.awaitEnd());
			}
			catch (InterruptedException ex) {
				end.completeExceptionally(ex);
			}
		});
		await().until(() -> {
			System.gc();
			return started.size() == 2 && started.getFirst().refersTo(null);
		});
		Files.createFile(this.directory.resolve("enough"));
		assertThat(end.get(20, TimeUnit.SECONDS).exitCode()).isZero();
	}

	@Test
	void everyRankOfAnElasticJobGetsTheEndpointsOfAllSlots() throws Exception {
		LaunchPlan plan = elastic(
				program("echo $TUTTI_ELASTIC_MIN_RANKS $TUTTI_ELASTIC_MAX_RANKS $TUTTI_ELASTIC_ENDPOINTS"), 2, 1, 0);
		assertThat(launcher(plan).run()).isZero();
		assertThat(outLines()).hasSize(2)
			.allMatch((line) -> line.matches("\\[[01]] 1 2 127\\.0\\.0\\.1:\\d+,127\\.0\\.0\\.1:\\d+"));
		assertThat(outLines().get(0).substring(4)).isEqualTo(outLines().get(1).substring(4));
	}

	@Test
	void anElasticJobContinuesWithoutARankThatIsNotRestarted() throws Exception {
		LaunchedCommand command = LaunchedCommand.of(List.of("train"),
				own("[ $RANK = 0 ] && kill -9 $$; " + UNTIL_NOTICED + "exit 0"));
		CompletableFuture<Integer> code = start(launcher(elastic(command, 3, 2, 0)));
		endTheOthersAfter("2 ranks are left");
		assertThat(code.get(20, TimeUnit.SECONDS)).isZero();
		assertThat(errLines()).containsExactly("tutti launch: rank 0 ended with 137 (SIGKILL); not restarted, since no "
				+ "restart is left of 0; 2 ranks are left");
	}

	@Test
	void anElasticJobWithFewerThanItsMinimumEnds() throws Exception {
		LaunchedCommand command = LaunchedCommand.of(List.of("train"),
				own("[ $RANK = 0 ] && kill -9 $$; "
						+ "[ $RANK = 1 ] && { while [ -e rank-0-0.pid ] && kill -0 $(cat rank-0-0.pid) 2> /dev/null; "
						+ "do sleep 0.05; done; exit 70; }; exec sleep 100"));
		assertThat(launcher(elastic(command, 3, 2, 0)).run()).isIn(70, 137);
		assertThat(this.err.toString(StandardCharsets.UTF_8)).contains(
				"the job ends: 1 rank is left, fewer than the minimum of 2, and no restart is left of 0",
				"rank 2 143 (SIGTERM)");
	}

	@Test
	void theRestartsOfAnElasticJobAreLimited() throws Exception {
		LaunchedCommand command = LaunchedCommand.of(List.of("train"), own("echo x >> starts; exit 70"));
		assertThat(launcher(elastic(command, 1, 1, 3)).run()).isEqualTo(70);
		assertThat(this.directory.resolve("starts")).hasContent("x\nx\nx\nx");
		assertThat(this.err.toString(StandardCharsets.UTF_8)).contains("(1 of 3)", "(2 of 3)", "(3 of 3)");
	}

	@ParameterizedTest
	@ValueSource(ints = { 64, 65, 77, 78, 80 })
	void aFailureThatARestartCannotFixEndsAnElasticJob(int exitCode) throws Exception {
		LaunchedCommand command = LaunchedCommand.of(List.of("train"),
				own("echo x >> starts; [ $RANK = 0 ] && exec sleep 100; "
						+ "while [ $(wc -l < starts) -lt 2 ]; do sleep 0.05; done; exit " + exitCode));
		assertThat(launcher(elastic(command, 2, 1, 5)).run()).isEqualTo(exitCode);
		assertThat(this.directory.resolve("starts")).hasContent("x\nx");
		assertThat(errLines().getFirst())
			.isEqualTo("tutti launch: rank 1 ended with " + exitCode + "; the job ends, since a restart cannot help");
	}

	@Test
	void aReplacementThatCannotStartIsStartedAgain() throws Exception {
		LaunchedCommand command = train("[ $RANK = 0 ] && { while [ ! -e joined ]; do sleep 0.05; done; exit 0; }; "
				+ "echo x >> starts; case $(wc -l < starts) in 1) kill -9 $$ ;; 2) exit 64 ;; "
				+ "*) touch joined ;; esac");
		assertThat(launcher(elastic(command, 2, 1, 2), PATIENT).run()).isZero();
		assertThat(errLines()).containsExactly(
				"tutti launch: rank 1 ended with 137 (SIGKILL); restarting it in 0.1 s (1 of 2)",
				"tutti launch: rank 1 ended with 64; restarting it in 0.2 s (2 of 2)");
	}

	@Test
	void anElasticJobContinuesWithoutAReplacementThatCannotStart() throws Exception {
		LaunchedCommand command = train("[ $RANK = 0 ] && { " + UNTIL_NOTICED + "exit 0; }; "
				+ "echo x >> starts; case $(wc -l < starts) in 1) kill -9 $$ ;; *) exit 64 ;; esac");
		CompletableFuture<Integer> code = start(launcher(elastic(command, 2, 1, 1)));
		endTheOthersAfter("1 rank is left");
		assertThat(code.get(20, TimeUnit.SECONDS)).isZero();
		assertThat(lastErrLine())
			.isEqualTo("tutti launch: rank 1 ended with 64; not restarted, since no restart is left of 1; "
					+ "1 rank is left");
	}

	@Test
	void aStopOfAnElasticJobIsAsThatOfAnyJob() throws Exception {
		LaunchedCommand command = LaunchedCommand.of(List.of("train"), own("[ $RANK = 1 ] && kill -9 $$; "
				+ "trap 'sleep 0.2; exit 79' TERM; touch ready-$RANK; while :; do sleep 0.05; done"));
		LocalLauncher launcher = launcher(elastic(command, 3, 1, 0), draining(LIMIT));
		CompletableFuture<Integer> code = start(launcher);
		awaitFiles("ready-0", "ready-2");
		await().until(() -> this.err.toString(StandardCharsets.UTF_8).contains("2 ranks are left"));
		launcher.stop();
		assertThat(code.get(10, TimeUnit.SECONDS)).isEqualTo(79);
		assertThat(lastErrLine()).isEqualTo("tutti launch: stopped on request; every rank ended with 79");
	}

	/** A rank that starts has no handler of the signal yet. */
	@Test
	void aStopWhileARankStartsHasTheExitCodeOfTheOthers() throws Exception {
		LaunchedCommand command = LaunchedCommand.of(List.of("train"),
				own("[ $RANK = 1 ] && touch ready-1 && exec sleep 100; "
						+ "trap 'sleep 0.5; exit 79' TERM; touch ready-$RANK; while :; do sleep 0.05; done"));
		LocalLauncher launcher = launcher(elastic(command, 2, 1, 0), draining(LIMIT));
		CompletableFuture<Integer> code = start(launcher);
		awaitFiles("ready-0", "ready-1");
		launcher.stop();
		assertThat(code.get(10, TimeUnit.SECONDS)).isEqualTo(79);
		assertThat(lastErrLine()).startsWith("tutti launch: stopped on request; the ranks ended with: ")
			.contains("rank 1 143 (SIGTERM)", "rank 0 79");
	}

	@Test
	void aDrainOfOneRankDrainsAnElasticJob() throws Exception {
		LaunchedCommand command = LaunchedCommand.of(List.of("train"),
				own("[ $RANK = 1 ] && exit 79; sleep 1; exit 79"));
		assertThat(launcher(elastic(command, 2, 1, 5), draining(LIMIT)).run()).isEqualTo(79);
		assertThat(errLines()).containsExactly("tutti launch: stopped on request; every rank ended with 79");
	}

	/** The pauses are longer than the launcher waits for the output of a rank. */
	@Test
	void theLastOutputReachesASlowReader() throws Exception {
		SlowOutput slow = new SlowOutput(30_000, Duration.ofMillis(1500));
		assertThat(new LocalLauncher(plan(program("exec seq 1 9000"), 1, 0), TIMINGS,
				new LaunchConsole(slow, false, this.err, false))
			.run()).isZero();
		assertThat(slow.toString(StandardCharsets.UTF_8)).hasLineCount(9000).endsWith("[0] 9000\n");
	}

	/**
	 * A delay of a second for each rank would be too long. The output of a rank that ends
	 * before the launcher reads it is closed at once.
	 */
	@Test
	void childProcessesThatHoldTheOutputOfManyRanksOpenDelayTheEndOnce() throws Exception {
		LocalLauncher launcher = launcher(program("sleep 30 & echo $! > child-$RANK.pid; echo started; "
				+ "while [ ! -e enough ]; do sleep 0.05; done; exit 0"), 24, 0);
		try {
			CompletableFuture<Integer> code = start(launcher);
			await().until(() -> outLines().size() == 24);
			Files.createFile(this.directory.resolve("enough"));
			assertThat(code.get(20, TimeUnit.SECONDS)).isZero();
		}
		finally {
			pidsWritten().map(ProcessHandle::of).flatMap(Optional::stream).forEach(ProcessHandle::destroyForcibly);
		}
	}

	/**
	 * The second one never pauses. The launcher reads when the rank ends, since more has
	 * been written than a pipe holds.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "while :; do echo x; sleep 0.3; done", "exec yes" })
	void aChildProcessThatWritesOnToStandardErrorDoesNotDelayTheEndForLong(String child) throws Exception {
		LocalLauncher launcher = launcher(
				program("(head -c 200000 /dev/zero; touch enough; " + child
						+ ") >&2 & echo $! > child-$RANK.pid; while [ ! -e enough ]; do sleep 0.05; done; exit 0"),
				1, 0);
		try {
			assertThat(start(launcher).get(20, TimeUnit.SECONDS)).isZero();
		}
		finally {
			pidsWritten().map(ProcessHandle::of).flatMap(Optional::stream).forEach(ProcessHandle::destroyForcibly);
		}
	}

	/** To a reader that pauses at first, and after so many bytes. */
	private static final class SlowOutput extends ByteArrayOutputStream {

		private final int bytes;

		private final Duration pause;

		private int nextPause;

		SlowOutput(int bytes, Duration pause) {
			this.bytes = bytes;
			this.pause = pause;
		}

		@Override
		public void write(byte[] text, int offset, int length) {
			if (size() >= this.nextPause) {
				this.nextPause += this.bytes;
				pause();
			}
			super.write(text, offset, length);
		}

		private void pause() {
			try {
				Thread.sleep(this.pause);
			}
			catch (InterruptedException ex) {
				throw new IllegalStateException(ex);
			}
		}

	}

	/** The replacement would wait for a job that is gone. */
	@Test
	void aDrainDropsARestartThatIsPending() throws Exception {
		LaunchedCommand command = train("echo x >> starts-$RANK; [ $RANK = 1 ] && kill -9 $$; "
				+ "while [ $(cat starts-1 2> /dev/null | wc -l) -lt 5 ]; do sleep 0.05; done; exit 79");
		assertThat(launcher(elastic(command, 2, 1, 100)).run()).isEqualTo(79);
		assertThat(this.directory.resolve("starts-1")).hasContent("x\nx\nx\nx\nx");
	}

	@Test
	void aStopWhileTheOnlyRankWaitsForItsRestartIsAFailure() throws Exception {
		LaunchedCommand command = LaunchedCommand.of(List.of("train"), own("echo x >> starts; kill -9 $$"));
		LocalLauncher launcher = launcher(elastic(command, 1, 1, 100));
		CompletableFuture<Integer> code = start(launcher);
		await().until(() -> this.err.toString(StandardCharsets.UTF_8).contains("restarting it in 1.6 s"));
		launcher.stop();
		assertThat(code.get(10, TimeUnit.SECONDS)).isEqualTo(137);
	}

	@Test
	void aReplacementThatNeverJoinedIsEndedOnceTheJobHasFinished() throws Exception {
		LaunchedCommand command = LaunchedCommand.of(List.of("train"),
				own("[ -e again ] && [ $RANK = 1 ] && { trap 'exit 79' TERM; touch joining; "
						+ "while :; do sleep 0.05; done; }; " + "[ $RANK = 1 ] && { touch again; kill -9 $$; }; "
						+ "while [ ! -e joining ]; do sleep 0.05; done"));
		assertThat(launcher(elastic(command, 3, 2, 3)).run()).isZero();
		assertThat(this.err.toString(StandardCharsets.UTF_8))
			.contains("rank 1 did not end within 0.6 s of the end of the job: sending SIGTERM");
	}

	/** It may have joined, and be at work still, so it has the time of a drain. */
	@Test
	void aProgramThatIsCutOffAfterTheJobHasFinishedIsReported() throws Exception {
		LaunchedCommand command = program("[ $RANK = 0 ] && { while [ ! -e joined ]; do sleep 0.05; done; exit 0; }; "
				+ "[ -e again ] || { touch again; kill -9 $$; }; touch joined; exec sleep 100");
		assertThat(launcher(elastic(command, 2, 1, 1)).run()).isZero();
		assertThat(this.err.toString(StandardCharsets.UTF_8))
			.contains("rank 1 did not end within 1.5 s of the end of the job: sending SIGTERM");
		assertThat(lastErrLine()).isEqualTo("tutti launch: rank 1 ended with 143 (SIGTERM) after the job had finished");
	}

	@Test
	void aReplacementThatFailsAfterTheJobHasFinishedIsAFailure() throws Exception {
		LaunchedCommand command = program("[ $RANK = 0 ] && { while [ ! -e joined ]; do sleep 0.05; done; exit 0; }; "
				+ "[ -e again ] || { touch again; kill -9 $$; }; touch joined; " + UNTIL_NOTICED + "exit 70");
		assertThat(runInOrder(elastic(command, 2, 1, 1))).isEqualTo(70);
	}

	@Test
	void aStopDoesNotHideAFailureAfterTheJobHasFinished() throws Exception {
		LaunchedCommand command = program(
				"[ $RANK = 0 ] && exit 0; [ $RANK = 1 ] && { " + untilEndOf(0) + "exit 70; }; " + "trap 'exit 0' TERM; "
						+ untilEndOf(1) + "touch alone; while :; do sleep 0.05; done");
		LocalLauncher launcher = launcher(elastic(command, 3, 1, 0), draining(LIMIT));
		CompletableFuture<Integer> code = start(launcher);
		awaitFiles("alone");
		launcher.stop();
		assertThat(code.get(20, TimeUnit.SECONDS)).isEqualTo(70);
		assertThat(lastErrLine()).startsWith("tutti launch: rank 1 ended with 70");
	}

	@ParameterizedTest
	@ValueSource(strings = { "exit 79", "trap - TERM; kill $$" })
	void aStopAfterTheJobHasFinishedIsNoFailure(String onStop) throws Exception {
		LaunchedCommand command = train("[ $RANK = 0 ] && { while [ ! -e joining ]; do sleep 0.05; done; exit 0; }; "
				+ "[ -e again ] || { touch again; kill -9 $$; }; trap '" + onStop + "' TERM; touch joining; "
				+ "while :; do sleep 0.05; done");
		LocalLauncher launcher = launcher(elastic(command, 2, 1, 1), patient(Duration.ofMillis(100)));
		CompletableFuture<Integer> code = start(launcher);
		await().until(() -> this.err.toString(StandardCharsets.UTF_8).contains("waiting for rank 1"));
		launcher.stop();
		assertThat(code.get(20, TimeUnit.SECONDS)).isZero();
		assertThat(lastErrLine()).startsWith("tutti launch: rank 1 ended with ")
			.endsWith(" after the job had finished");
	}

	@Test
	void aRankKilledAfterTheJobHasFinishedIsNoFailure() throws Exception {
		LaunchedCommand command = LaunchedCommand.of(List.of("train"),
				own("[ $RANK = 0 ] && exit 0; " + untilEndOf(0) + "kill -9 $$"));
		assertThat(launcher(elastic(command, 2, 1, 3)).run()).isZero();
		assertThat(lastErrLine()).isEqualTo("tutti launch: rank 1 ended with 137 (SIGKILL) after the job had finished");
	}

	/** The last one is that of {@code exit(-1)}. */
	@ParameterizedTest
	@ValueSource(ints = { 70, 193, 255 })
	void aRankThatFailsAfterTheJobHasFinishedIsAFailure(int code) throws Exception {
		LaunchedCommand command = train("[ $RANK = 1 ] && exit 0; " + untilEndOf(1) + "exit " + code);
		assertThat(launcher(elastic(command, 2, 1, 3)).run()).isEqualTo(code);
	}

	private static LaunchPlan elastic(LaunchedCommand command, int ranks, int least, int maxRestarts) {
		return new LaunchPlan(command, ranks, 1, 0, "127.0.0.1", null, maxRestarts,
				new ElasticRanks(least, ranks, List.of()), Map.of());
	}

	private CompletableFuture<Integer> start(LocalLauncher launcher) {
		CompletableFuture<Integer> code = new CompletableFuture<>();
		Thread.ofVirtual().start(() -> {
			try {
				code.complete(launcher.run());
			}
			catch (IOException | InterruptedException ex) {
				code.completeExceptionally(ex);
			}
		});
		return code;
	}

	/**
	 * Runs ranks of which some end only {@linkplain #UNTIL_NOTICED once} the launcher
	 * waits for them, since another one has ended.
	 */
	private int runInOrder(LaunchPlan plan) throws Exception {
		this.err.reset();
		Files.deleteIfExists(this.directory.resolve("noticed"));
		CompletableFuture<Integer> code = start(launcher(plan, patient(Duration.ofMillis(100))));
		endTheOthersAfter("tutti launch: waiting for rank");
		return code.get(20, TimeUnit.SECONDS);
	}

	private void endTheOthersAfter(String report) throws IOException {
		await().until(() -> this.err.toString(StandardCharsets.UTF_8).contains(report));
		Files.createFile(this.directory.resolve("noticed"));
	}

	/**
	 * In the script of a rank: waits until another one is gone, and a moment more. The
	 * launcher reports no end of a rank without a failure, and learns of it a little
	 * later than the system.
	 */
	private static String untilEndOf(int rank) {
		String pid = "rank-" + rank + "-0.pid";
		return "while [ ! -s " + pid + " ] || kill -0 $(cat " + pid
				+ "); do sleep 0.05; done 2> /dev/null; sleep 0.5; ";
	}

	private void awaitFiles(String... names) {
		await().until(() -> Stream.of(names).map(this.directory::resolve).allMatch(Files::exists));
	}

	private LocalLauncher launcher(LaunchedCommand command, int ranks, int maxRestarts) {
		return launcher(plan(command, ranks, maxRestarts));
	}

	private LocalLauncher launcher(LaunchPlan plan) {
		return launcher(plan, TIMINGS);
	}

	private LocalLauncher launcher(LaunchPlan plan, LaunchTimings timings) {
		return new LocalLauncher(plan, timings, new LaunchConsole(this.out, false, this.err, false));
	}

	private static LaunchTimings patient(Duration notice) {
		return new LaunchTimings(LIMIT, TIMINGS.terminate(), LIMIT, LIMIT, TIMINGS.kill(), notice);
	}

	private static LaunchTimings draining(Duration drain) {
		return new LaunchTimings(TIMINGS.leave(), TIMINGS.terminate(), drain, TIMINGS.serveStop(), TIMINGS.kill(),
				TIMINGS.notice());
	}

	private static LaunchPlan plan(LaunchedCommand command, int ranks, int maxRestarts) {
		return new LaunchPlan(command, ranks, 1, 0, "127.0.0.1", 4242, maxRestarts, null, Map.of("EXTRA", "more"));
	}

	/**
	 * A shell program that runs in the test's directory and writes its process id there.
	 */
	private LaunchedCommand program(String script) {
		return LaunchedCommand.of(List.of("sh", "-c", inDirectory(script)), own(""));
	}

	private LaunchedCommand train(String script) {
		return LaunchedCommand.of(List.of("train"), own(script));
	}

	private TuttiProgram own(String script) {
		return new TuttiProgram(List.of("sh", "-c", inDirectory(script)));
	}

	private String inDirectory(String script) {
		return "cd '" + this.directory + "'; echo $$ > rank-$RANK-$TORCHELASTIC_RESTART_COUNT.pid; " + script;
	}

	/** A zombie counts as ended. */
	private static boolean runs(long pid) {
		try {
			String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
			return !stat.startsWith("Z", stat.lastIndexOf(')') + 2);
		}
		catch (IOException ex) {
			return false;
		}
	}

	/** A rank that is killed at its start leaves an empty file. */
	private Stream<Long> pidsWritten() {
		try (Stream<Path> files = Files.list(this.directory)) {
			return files.filter((file) -> file.toString().endsWith(".pid"))
				.map(LocalLauncherTest::read)
				.filter((pid) -> !pid.isEmpty())
				.map(Long::valueOf)
				.toList()
				.stream();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static String read(Path file) {
		try {
			return Files.readString(file).strip();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private List<String> outLines() {
		return this.out.toString(StandardCharsets.UTF_8).lines().toList();
	}

	private List<String> errLines() {
		return this.err.toString(StandardCharsets.UTF_8).lines().toList();
	}

	private List<String> errLinesWithoutNotices() {
		return errLines().stream().filter((line) -> !line.startsWith("tutti launch: waiting for ")).toList();
	}

	private String lastErrLine() {
		return errLines().getLast();
	}

}
