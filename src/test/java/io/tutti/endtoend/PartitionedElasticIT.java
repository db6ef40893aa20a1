package io.tutti.endtoend;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.tutti.ExitCode;
import io.tutti.engine.elastic.ElasticJob;
import io.tutti.engine.elastic.ElasticProcess;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Elastic jobs on hosts whose network is divided: one side continues at most, the others
 * end with the documented code. By default some of the partitions of 2 to 5 ranks; all of
 * them with the system property {@code tutti.partitions=all}.
 */
@Order(1)
@Timeout(240)
class PartitionedElasticIT {

	/** The test ends a side that continues. */
	private static final long STEPS = 1_000_000;

	private static final Duration LIMIT = Duration.ofSeconds(60);

	@TempDir
	private Path folder;

	/** The side of each host. */
	static Stream<List<Integer>> partitions() {
		if (!"all".equals(System.getProperty("tutti.partitions"))) {
			return Stream.of(List.of(0, 1), List.of(0, 1, 1), List.of(0, 0, 1, 1), List.of(1, 0, 0, 1, 2));
		}
		List<List<Integer>> all = new ArrayList<>();
		for (int hosts = 2; hosts <= 5; hosts++) {
			addAll(List.of(0), hosts, all);
		}
		return all.stream();
	}

	/** Each host joins a side that exists or founds the next one. */
	private static void addAll(List<Integer> sides, int hosts, List<List<Integer>> all) {
		int next = sides.stream().mapToInt(Integer::intValue).max().orElse(-1) + 1;
		if (sides.size() == hosts) {
			if (next > 1) {
				all.add(sides);
			}
			return;
		}
		for (int side = 0; side <= next; side++) {
			List<Integer> more = new ArrayList<>(sides);
			more.add(side);
			addAll(more, hosts, all);
		}
	}

	@ParameterizedTest
	@MethodSource("partitions")
	void oneSideContinuesAtMost(List<Integer> sides) throws Exception {
		TestHosts.assumePossible();
		int hosts = sides.size();
		TestHosts network = new TestHosts(hosts);
		try (ElasticJob job = job(network, hosts).startAll()) {
			awaitSteps(job, hosts);
			network.network().divide(sides);
			Integer continuing = continuing(sides);
			List<Integer> members = IntStream.range(0, hosts)
				.filter((slot) -> sides.get(slot).equals(continuing))
				.boxed()
				.toList();
			for (int slot = 0; slot < hosts; slot++) {
				if (!members.contains(slot)) {
					assertThat(job.exitCode(slot, LIMIT)).as("%s slot %d: %s", sides, slot, job.report())
						.isEqualTo(ExitCode.DEADLINE_PASSED);
				}
			}
			for (int slot : members) {
				job.await("steps of slot " + slot + " without the others", LIMIT,
						() -> job.lines(slot)
							.stream()
							.anyMatch((line) -> line.contains(" of " + members.size() + " ")));
			}
			job.stop();
			for (int slot : members) {
				assertThat(job.exitCode(slot, LIMIT)).as("%s slot %d: %s", sides, slot, job.report()).isZero();
				assertThat(job.lines(slot)).contains("sum " + ElasticProcess.expected(job.step(members.getFirst())));
			}
		}
		finally {
			network.close();
		}
	}

	/** Host 1 reaches host 2, but not host 0, which leads. */
	@Test
	void aRankThatReachesOnlySomeOthersIsLeftOutOnce() throws Exception {
		TestHosts.assumePossible();
		TestHosts network = new TestHosts(3);
		try (ElasticJob job = job(network, 3).with("TUTTI_TIMEOUT_RENDEZVOUS", "15s").startAll()) {
			awaitSteps(job, 3);
			network.network().separate(0, 1);
			assertThat(job.exitCode(1, LIMIT)).as(job.report()).isEqualTo(ExitCode.DEADLINE_PASSED);
			assertThat(job.report()).contains("awaited ranks: [0]");
			for (int slot : List.of(0, 2)) {
				job.await("steps of slot " + slot, LIMIT, () -> !loops(job, slot, 2).isEmpty());
			}
			job.stop();
			for (int slot : List.of(0, 2)) {
				assertThat(job.exitCode(slot, LIMIT)).as(job.report()).isZero();
				assertThat(loops(job, slot, 2)).hasSize(1);
				assertThat(job.lines(slot)).contains("sum " + ElasticProcess.expected(job.step(0)));
			}
		}
		finally {
			network.close();
		}
	}

	/** Both reach host 0. Without one of them the job continues. */
	@Test
	void twoRanksThatDoNotReachEachOtherDoNotStopTheJob() throws Exception {
		TestHosts.assumePossible();
		TestHosts network = new TestHosts(3);
		try (ElasticJob job = job(network, 3).startAll()) {
			awaitSteps(job, 3);
			network.network().separate(1, 2);
			// It ends at its third loss. Connecting to a host that does not answer takes
			// up to 30 s.
			job.await("the end of one of the two", LIMIT.multipliedBy(2),
					() -> !job.process(1).isAlive() || !job.process(2).isAlive());
			int ended = job.process(1).isAlive() ? 2 : 1;
			assertThat(job.exitCode(ended, LIMIT)).isEqualTo(ExitCode.PEER_LOST);
			assertThat(job.report()).contains("one of them does not reach it");
			for (int slot : List.of(0, 3 - ended)) {
				job.await("steps of slot " + slot, LIMIT, () -> !loops(job, slot, 2).isEmpty());
			}
			job.stop();
			for (int slot : List.of(0, 3 - ended)) {
				assertThat(job.exitCode(slot, LIMIT)).as(job.report()).isZero();
				assertThat(job.lines(slot)).contains("sum " + ElasticProcess.expected(job.step(0)));
			}
		}
		finally {
			network.close();
		}
	}

	/** Each host leads for itself and finds no quorum until the network recovers. */
	@Test
	void ranksThatReachEachOtherAgainContinueTogether() throws Exception {
		TestHosts.assumePossible();
		TestHosts network = new TestHosts(3);
		try (ElasticJob job = job(network, 3).with("TUTTI_TIMEOUT_HEARTBEAT", "10s")
			.with("TUTTI_TIMEOUT_RENDEZVOUS", "120s")
			.startAll()) {
			awaitSteps(job, 3);
			network.network().divide(List.of(0, 1, 2));
			for (int slot : List.of(0, 1, 2)) {
				job.await("slot " + slot + " awaits the others", LIMIT,
						() -> job.lines(slot)
							.stream()
							.dropWhile((line) -> !line.startsWith("event Lost"))
							.anyMatch((line) -> line.startsWith("event Awaiting")));
			}
			network.network().divide(List.of(0, 0, 0));
			for (int slot : List.of(0, 1, 2)) {
				job.await("steps of slot " + slot, Duration.ofSeconds(30), () -> loops(job, slot, 3).size() == 2);
			}
			job.stop();
			for (int slot : List.of(0, 1, 2)) {
				assertThat(job.exitCode(slot, LIMIT)).as(job.report()).isZero();
				assertThat(job.lines(slot)).contains("sum " + ElasticProcess.expected(job.step(0)));
			}
		}
		finally {
			network.close();
		}
	}

	private ElasticJob job(TestHosts network, int hosts) {
		String endpoints = IntStream.range(0, hosts)
			.mapToObj((host) -> TestHosts.address(host) + ":29600")
			.collect(Collectors.joining(","));
		return new ElasticJob(this.folder, hosts, hosts, STEPS, 20).on(network::on)
			.with("MASTER_ADDR", TestHosts.address(0))
			.with("MASTER_PORT", "29500")
			.with("TUTTI_SECURITY_TOKEN", "a token")
			.with("TUTTI_ELASTIC_ENDPOINTS", endpoints);
	}

	private static void awaitSteps(ElasticJob job, int hosts) throws Exception {
		for (int slot = 0; slot < hosts; slot++) {
			int each = slot;
			job.await("step 5", LIMIT, () -> job.step(each) >= 5);
		}
	}

	/** What a rank has printed at the start of its loops with a number of ranks. */
	private static List<String> loops(ElasticJob job, int slot, int ranks) {
		return job.lines(slot)
			.stream()
			.filter((line) -> line.startsWith("loop ") && line.contains(" of " + ranks + " "))
			.toList();
	}

	/** The side with more than half of the hosts, or with half of them and host 0. */
	private static Integer continuing(List<Integer> sides) {
		return sides.stream().distinct().filter((side) -> {
			long count = sides.stream().filter(side::equals).count();
			return 2 * count > sides.size() || (2 * count == sides.size() && sides.getFirst().equals(side));
		}).findFirst().orElse(null);
	}

}
