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
@Timeout(120)
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
		String endpoints = IntStream.range(0, hosts)
			.mapToObj((host) -> TestHosts.address(host) + ":29600")
			.collect(Collectors.joining(","));
		try (ElasticJob job = new ElasticJob(this.folder, hosts, hosts, STEPS, 20).on(network::on)
			.with("MASTER_ADDR", TestHosts.address(0))
			.with("MASTER_PORT", "29500")
			.with("TUTTI_SECURITY_TOKEN", "a token")
			.with("TUTTI_ELASTIC_ENDPOINTS", endpoints)
			.startAll()) {
			for (int slot = 0; slot < hosts; slot++) {
				int each = slot;
				job.await("step 5", LIMIT, () -> job.step(each) >= 5);
			}
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

	/** The side with more than half of the hosts, or with half of them and host 0. */
	private static Integer continuing(List<Integer> sides) {
		return sides.stream().distinct().filter((side) -> {
			long count = sides.stream().filter(side::equals).count();
			return 2 * count > sides.size() || (2 * count == sides.size() && sides.getFirst().equals(side));
		}).findFirst().orElse(null);
	}

}
