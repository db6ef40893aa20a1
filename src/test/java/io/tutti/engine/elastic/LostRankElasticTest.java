package io.tutti.engine.elastic;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.tutti.ExitCode;
import io.tutti.FreePort;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Processes of one elastic job on this host that are killed and stopped.
 */
@Order(1)
@Timeout(240)
class LostRankElasticTest {

	private static final Duration LIMIT = Duration.ofSeconds(60);

	/** A job that its test stops. */
	private static final long UNLIMITED = 1_000_000;

	@TempDir
	private Path folder;

	@ParameterizedTest
	@ValueSource(ints = { 0, 1, 2 })
	void theOthersContinueWhenARankIsKilledAndEndWithTheSameResult(int victim) throws Exception {
		try (ElasticJob job = new ElasticJob(this.folder, 3, 3, UNLIMITED, 5).startAll()) {
			job.await("step 20", LIMIT, () -> job.step(victim) >= 20);
			job.signal(victim, "KILL");
			requireContinued(job, IntStream.range(0, 3).filter((slot) -> slot != victim).toArray());
		}
	}

	@Test
	void aRankThatIsKilledDuringTheFoundingIsReplaced() throws Exception {
		try (ElasticJob job = new ElasticJob(this.folder, 3, 3, 60, 5)) {
			job.start(0);
			job.start(1);
			job.await("a rank that waits for rank 2", LIMIT,
					() -> job.lines(0).stream().anyMatch((line) -> line.contains("Awaiting") && line.contains("2")));
			job.signal(0, "KILL");
			job.start(0);
			job.start(2);
			for (int slot = 0; slot < 3; slot++) {
				requireResult(job, slot, 60);
			}
		}
	}

	@Test
	void theOthersContinueWhenARankIsKilledInTheFirstStep() throws Exception {
		try (ElasticJob job = new ElasticJob(this.folder, 3, 3, UNLIMITED, 5).startAll()) {
			job.await("the first step", LIMIT, () -> !job.lines(0).isEmpty()
					&& job.lines(0).stream().anyMatch((line) -> line.startsWith("loop rank")));
			job.signal(0, "KILL");
			requireContinued(job, 1, 2);
		}
	}

	@Test
	void theOthersContinueWhenARankIsKilledWhileTheyWaitForItInACollective() throws Exception {
		try (ElasticJob job = new ElasticJob(this.folder, 3, 3, UNLIMITED, 5).startAll()) {
			job.await("step 5", LIMIT, () -> job.step(2) >= 5);
			job.signal(2, "STOP");
			Thread.sleep(300);
			job.signal(2, "KILL");
			requireContinued(job, 0, 1);
		}
	}

	/**
	 * A rank that fails in its row leaves its column, where another one waits for it.
	 */
	@ParameterizedTest
	@CsvSource({ "0, shm", "1, shm", "0, tcp", "1, tcp" })
	void allOthersContinueWhenOneOfThemLeavesASubgroupBecauseOfTheLoss(int victim, String transport) throws Exception {
		try (ElasticJob job = new ElasticJob(this.folder, 4, 4, List.of(ElasticProcess.class.getName(), "" + UNLIMITED,
				"100", "" + this.folder.resolve("stop"), "grid"))
			.with("TUTTI_TRANSPORT_KIND", transport)
			.startAll()) {
			job.await("step 5", LIMIT, () -> job.step(victim) >= 5);
			job.signal(victim, "STOP");
			Thread.sleep(300);
			job.signal(victim, "KILL");
			int[] others = IntStream.range(0, 4).filter((slot) -> slot != victim).toArray();
			requireContinued(job, others);
			for (int slot : others) {
				assertThat(job.lines(slot)).anyMatch((line) -> line.contains("of 3 generation 1"));
			}
		}
	}

	/** Each rank has the port of its place on the host, whichever ranks are left. */
	@Test
	void theOthersContinueWhileAStoppedRankHoldsItsFixedDataPort() throws Exception {
		try (ElasticJob job = new ElasticJob(this.folder, 3, 3, UNLIMITED, 20)
			.with("TUTTI_TRANSPORT_PORT", "" + FreePort.next())
			.startAll()) {
			job.await("step 5", LIMIT, () -> job.step(1) >= 5);
			job.signal(0, "STOP");
			requireContinued(job, 1, 2);
		}
	}

	/** A rank that is only silent may run on the other side of a partition. */
	@Test
	void aRankWithoutAQuorumWaitsWhetherTheSilentOneHasEnded() throws Exception {
		try (ElasticJob job = new ElasticJob(this.folder, 2, 2, UNLIMITED, 20).with("TUTTI_TIMEOUT_HEARTBEAT", "8s")
			.startAll()) {
			job.await("step 5", LIMIT, () -> job.step(1) >= 5);
			job.signal(0, "STOP");
			job.await("the loss", LIMIT, () -> job.lines(1).stream().anyMatch((line) -> line.contains("event Lost")));
			// Longer than one question, much less than the heartbeat timeout.
			Thread.sleep(2800);
			job.signal(0, "KILL");
			requireContinued(job, 1);
		}
	}

	/** A member of a later generation may run where the third slot is. */
	@Test
	void aRankWithoutAQuorumNamesTheSlotThatDoesNotAnswer() throws Exception {
		String endpoints = "127.0.0.1:" + FreePort.next() + ",127.0.0.1:" + FreePort.next() + ",unknown.invalid:1";
		try (ElasticJob job = new ElasticJob(this.folder, 2, 3, 2000, 20).with("TUTTI_ELASTIC_ENDPOINTS", endpoints)
			.with("TUTTI_SECURITY_ANONYMOUS", "true")
			.startAll()) {
			job.await("step 5", LIMIT, () -> job.step(1) >= 5);
			job.signal(0, "STOP");
			job.await("the loss", LIMIT, () -> job.lines(1).stream().anyMatch((line) -> line.contains("event Lost")));
			job.signal(0, "KILL");
			assertThat(job.exitCode(1, LIMIT)).as(job.report()).isEqualTo(ExitCode.DEADLINE_PASSED);
			assertThat(job.report()).contains("ranks [2] do not answer");
		}
	}

	@Test
	void aRestartedRankJoinsAndTheLastOneCanContinueAlone() throws Exception {
		try (ElasticJob job = new ElasticJob(this.folder, 2, 2, UNLIMITED, 10).startAll()) {
			job.await("step 20", LIMIT, () -> job.step(0) >= 20);
			job.signal(0, "KILL");
			job.await("the survivor's next step", LIMIT,
					() -> job.lines(1).contains("loop rank 0 of 1 generation 1 from " + job.step(1))
							|| job.lines(1).stream().anyMatch((line) -> line.startsWith("loop rank 0 of 1")));
			job.start(0);
			job.await("the restarted rank's step", LIMIT, () -> job.step(0) > 0);
			assertThat(job.lines(0)).anyMatch((line) -> line.startsWith("loop rank 0 of 2"))
				.noneMatch((line) -> line.startsWith("step 1 "));
			requireStopped(job, 0, 1);
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { 0, 2 })
	void aStoppedRankIsExcludedAndJoinsAgainWhenItResumes(int victim) throws Exception {
		try (ElasticJob job = new ElasticJob(this.folder, 3, 3, UNLIMITED, 10).startAll()) {
			job.await("step 20", LIMIT, () -> job.step(1) >= 20);
			job.signal(victim, "STOP");
			job.await("two ranks", LIMIT,
					() -> job.lines(1).stream().anyMatch((line) -> line.matches("loop rank . of 2.*")));
			long excluded = job.step(1);
			job.await("steps without it", LIMIT, () -> job.step(1) > excluded + 20);
			job.signal(victim, "CONT");
			job.await("its return", LIMIT,
					() -> job.lines(victim).stream().filter((line) -> line.startsWith("loop ")).count() == 2);
			requireStopped(job, 0, 1, 2);
		}
	}

	@Test
	void aKillDuringTheFormationStartsItOver() throws Exception {
		try (ElasticJob job = new ElasticJob(this.folder, 4, 4, UNLIMITED, 5).startAll()) {
			job.await("step 20", LIMIT, () -> job.step(3) >= 20);
			job.signal(2, "KILL");
			job.signal(0, "KILL");
			requireContinued(job, 1, 3);
		}
	}

	@Test
	void aRankMayBeAddedUpToTheMaximum() throws Exception {
		try (ElasticJob job = new ElasticJob(this.folder, 2, 3, UNLIMITED, 10).startAll()) {
			job.await("step 20", LIMIT, () -> job.step(0) >= 20);
			job.start(2);
			job.await("three ranks", LIMIT,
					() -> job.lines(0).stream().anyMatch((line) -> line.startsWith("loop rank 0 of 3")));
			requireStopped(job, 0, 1, 2);
		}
	}

	/** The rendezvous of ranks on several hosts exchanges no data. */
	@Test
	void theRanksOfOtherHostsContinueWithoutAProcessThatDoesNotReachADataPort() throws Exception {
		Assumptions.assumeTrue(new ProcessBuilder("sh", "-c", "unshare --uts true").start().waitFor() == 0,
				"namespaces are not allowed here");
		try (ElasticJob job = new ElasticJob(this.folder, 2, 3, UNLIMITED, 10).on(LostRankElasticTest::onItsOwnHost)
			.startAll()) {
			job.await("step 20", LIMIT, () -> job.step(0) >= 20);
			job.start(2);
			job.await("a generation without it", LIMIT,
					() -> job.lines(0).stream().filter((line) -> line.startsWith("loop rank 0 of 2")).count() > 1);
			requireStopped(job, 0, 1);
			assertThat(job.lines(2)).noneMatch((line) -> line.contains("event Formed"));
		}
	}

	/**
	 * Rank 1 advertises an address where it does not listen, to which rank 2 connects.
	 */
	private static List<String> onItsOwnHost(int slot, List<String> command) {
		String advertised = (slot == 1) ? "127.0.0.3" : "127.0.0.1";
		return Stream.concat(Stream.of("unshare", "--uts", "sh", "-c", "hostname h$0; exec \"$@\"", "" + slot, "env",
				"TUTTI_TRANSPORT_ADVERTISED_HOST=" + advertised), command.stream())
			.toList();
	}

	@Test
	void fewerRanksThanTheMinimumWaitAndEndWithTheDocumentedCode() throws Exception {
		try (ElasticJob job = new ElasticJob(this.folder, 2, 2, 2000, 10).with("TUTTI_ELASTIC_MIN_RANKS", "2")
			.with("TUTTI_TIMEOUT_RENDEZVOUS", "8s")
			.startAll()) {
			job.await("step 20", LIMIT, () -> job.step(1) >= 20);
			job.signal(0, "KILL");
			assertThat(job.exitCode(1, LIMIT)).as(job.report()).isEqualTo(ExitCode.DEADLINE_PASSED);
		}
	}

	@Test
	void moreLossesThanAllowedEndTheJob() throws Exception {
		try (ElasticJob job = new ElasticJob(this.folder, 3, 3, 5000, 5).with("TUTTI_ELASTIC_MAX_FAILURES", "1")
			.startAll()) {
			job.await("step 20", LIMIT, () -> job.step(1) >= 20);
			job.signal(0, "KILL");
			job.await("two ranks", LIMIT,
					() -> job.lines(1).stream().anyMatch((line) -> line.startsWith("loop rank 0 of 2")));
			job.signal(1, "KILL");
			assertThat(job.exitCode(2, LIMIT)).as(job.report()).isEqualTo(ExitCode.PEER_LOST);
		}
	}

	/** Prints the times from a kill to the next step of the others. */
	@Test
	@Timeout(1200)
	@EnabledIfSystemProperty(named = "tutti.kills", matches = "\\d+")
	void recoveryTimes() throws Exception {
		int kills = Integer.getInteger("tutti.kills");
		List<Long> times = new ArrayList<>();
		Random random = new Random(7);
		try (ElasticJob job = new ElasticJob(this.folder, 4, 4, 1_000_000, 5).startAll()) {
			for (int kill = 0; kill < kills; kill++) {
				job.await("four ranks", LIMIT, () -> running(job));
				Thread.sleep(random.nextInt(200));
				int victim = random.nextInt(4);
				int witness = (victim + 1) % 4;
				long before = System.currentTimeMillis();
				job.signal(victim, "KILL");
				job.process(victim).waitFor();
				long killed = System.currentTimeMillis();
				long generation = generation(job, witness);
				job.await("the next generation", LIMIT, () -> generation(job, witness) > generation);
				long next = job.lines(witness)
					.stream()
					.filter((line) -> line.matches("step \\d+ generation \\d+ at \\d{13}"))
					.map((line) -> line.split(" "))
					.filter((parts) -> Long.parseLong(parts[3]) > generation)
					.mapToLong((parts) -> Long.parseLong(parts[5]))
					.min()
					.orElseThrow();
				times.add(next - before);
				System.out.println("kill " + kill + " of slot " + victim + ": " + (next - before) + " ms (gone after "
						+ (killed - before) + " ms)");
				job.start(victim);
			}
		}
		Collections.sort(times);
		System.out.println("kills " + kills + " p50 " + times.get(kills / 2) + " ms, p90 " + times.get(kills * 9 / 10)
				+ " ms, worst " + times.getLast() + " ms");
	}

	private static long generation(ElasticJob job, int slot) {
		return job.lines(slot)
			.stream()
			.filter((line) -> line.matches("step \\d+ generation \\d+ at \\d{13}"))
			.mapToLong((line) -> Long.parseLong(line.split(" ")[3]))
			.max()
			.orElse(-1);
	}

	/** Whether every slot has made a step in a generation of four ranks. */
	private static boolean running(ElasticJob job) {
		long newest = generation(job, 0);
		for (int slot = 0; slot < 4; slot++) {
			if (newest < 0 || generation(job, slot) != newest
					|| job.lines(slot)
						.stream()
						.noneMatch((line) -> line.contains(" of 4 generation " + newest + " "))) {
				return false;
			}
		}
		return true;
	}

	/** The remaining slots form a generation, and end as asked. */
	private static void requireContinued(ElasticJob job, int... slots) throws Exception {
		for (int slot : slots) {
			job.await("a generation of the remaining ranks", LIMIT,
					() -> job.lines(slot)
						.stream()
						.anyMatch((line) -> line.matches("loop rank . of " + slots.length + " .*")));
		}
		requireStopped(job, slots);
	}

	/** All end after the same step with the sum of the samples until then. */
	private static void requireStopped(ElasticJob job, int... slots) throws Exception {
		job.stop();
		for (int slot : slots) {
			assertThat(job.exitCode(slot, LIMIT)).as(job.report()).isZero();
			requireResult(job, slot, job.step(slots[0]));
		}
	}

	private static void requireResult(ElasticJob job, int slot, long steps) throws Exception {
		assertThat(job.exitCode(slot, LIMIT)).as(job.report()).isZero();
		assertThat(job.lines(slot)).as(job.report()).contains("sum " + ElasticProcess.expected(steps));
	}

}
