package io.tutti.endtoend;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Three hosts with two ranks each, on a network with configurable delay, frame loss and
 * link failure. The ranks of one case form the group of the next case too, unless the
 * case has failed. A launcher starts one rank per host.
 */
@Order(5)
@Timeout(180)
class SeveralHostsIT {

	private static final int HOSTS = 3;

	private static final int RANKS = 2 * HOSTS;

	private static final Duration LIMIT = Duration.ofSeconds(90);

	@TempDir
	private static Path folder;

	private static TestHosts hosts;

	private static List<TuttiProcess> ranks = List.of();

	private boolean inGroup;

	@BeforeAll
	static void makeHosts() throws Exception {
		TestHosts.assumePossible();
		hosts = new TestHosts(HOSTS);
	}

	@AfterAll
	static void endRanksAndRemoveHosts() throws Exception {
		try {
			for (TuttiProcess rank : ranks) {
				rank.endInput();
			}
			for (TuttiProcess rank : ranks) {
				assertThat(rank.exitCode(LIMIT)).as(rank.output()).isZero();
			}
		}
		finally {
			killRanks();
			if (hosts != null) {
				hosts.close();
			}
		}
	}

	@AfterEach
	void repair() {
		hosts.network().repair();
		if (this.inGroup) {
			killRanks();
		}
	}

	private static void killRanks() {
		ranks.forEach(TuttiProcess::close);
		ranks = List.of();
	}

	@Test
	void everyCollectiveIsRightAlsoWithTwentyMillisecondsOfDelayAndOneFrameInAHundredLost() throws Exception {
		join(TestHosts.address(0));
		assertThat(ranks).allSatisfy((rank) -> {
			Matcher joined = rank.awaitLine("joined; members (.*)", LIMIT);
			assertThat(joined.group(1)).contains("10.77.0.1", "10.77.0.2", "10.77.0.3").doesNotContain("127.0.0.1");
		});
		assertThat(ranks)
			.allSatisfy((rank) -> assertThat(rank.awaitLine("joined; .*", LIMIT).group()).contains("over shm+tcp"));
		order("collectives");
		awaitAll("found everything right");
		hosts.network().disturb(Duration.ofMillis(20), 0.01);
		long start = System.nanoTime();
		order("collectives");
		for (TuttiProcess rank : ranks) {
			rank.awaitLines("found everything right", 2, LIMIT);
		}
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(Duration.ofMillis(400));
		leave();
	}

	@Test
	void aLinkCutInTheMiddleOfACallFailsEveryRankByName() throws Exception {
		join(TestHosts.address(0));
		order("endless");
		awaitAll("is under way");
		long cut = System.nanoTime();
		hosts.network().cut(2);
		List<String> ends = new ArrayList<>();
		for (TuttiProcess rank : ranks) {
			ends.add(rank.awaitLine("failed after .*", LIMIT).group());
		}
		assertThat(Duration.ofNanos(System.nanoTime() - cut)).isLessThan(HostRank.CALL);
		assertThat(ends.subList(0, 4)).allSatisfy((end) -> assertThat(end).containsPattern("rank [45] lost"));
		assertThat(ends.subList(4, RANKS)).allSatisfy((end) -> assertThat(end).contains("rank 0 lost"));
		leave();
	}

	/** Both hosts reach rank 0, which sees nothing of it. */
	@ParameterizedTest
	@ValueSource(strings = { "endless", "messages" })
	void hostsThatOnlyLoseEachOtherFailLongBeforeTheDeadline(String calls) throws Exception {
		join(TestHosts.address(0));
		order(calls);
		awaitAll("is under way");
		long cut = System.nanoTime();
		hosts.network().separate(1, 2);
		for (TuttiProcess rank : ranks) {
			assertThat(rank.awaitLine("failed after .*", LIMIT).group()).containsPattern("rank [2345] lost")
				.containsPattern("has not answered|timed out");
		}
		assertThat(Duration.ofNanos(System.nanoTime() - cut)).isLessThan(HostRank.CALL);
		leave();
	}

	@Test
	void ranksThatMeetOverIpv6ReduceOverIt() throws Exception {
		join("[" + TestHosts.ipv6Address(0) + "]");
		assertThat(ranks).allSatisfy((rank) -> {
			Matcher joined = rank.awaitLine("joined; members (.*)", LIMIT);
			assertThat(joined.group(1)).contains("fd77:0:0:0:0:0:0:3").doesNotContain("10.77.0");
		});
		order("collectives");
		awaitAll("found everything right");
		leave();
	}

	@Test
	void requiredSharedMemoryIsRefusedIfEveryRankIsOnAHostOfItsOwn() throws Exception {
		try (TuttiProcess first = benchOverSharedMemory(0); TuttiProcess second = benchOverSharedMemory(1)) {
			for (TuttiProcess rank : List.of(first, second)) {
				assertThat(rank.exitCode(LIMIT)).as(rank.output()).isEqualTo(64);
				assertThat(rank.output()).contains("the ranks of group world do not all share memory",
						"Set tutti.transport.kind to auto");
			}
		}
	}

	private static TuttiProcess benchOverSharedMemory(int rank) throws Exception {
		Map<String, String> environment = new HashMap<>(environment(rank, 2));
		environment.put("MASTER_ADDR", TestHosts.address(0));
		return TuttiProcess.run(folder, environment,
				hosts.on(rank, List.of(Launcher.script(), "bench", "--transport", "shm", "--iterations", "1")));
	}

	@Test
	void openMpiStartsRanksOnAllHosts() throws Exception {
		Assumptions.assumeTrue(TestHosts.isInstalled("mpirun.openmpi"), "Open MPI is not installed");
		String network = "10.77.0.0/24";
		assertBenchmark(Stream.of("mpirun.openmpi", "--allow-run-as-root", "--mca", "plm_rsh_agent",
				hosts.remoteShell(folder).toString(), "--mca", "plm_rsh_no_tree_spawn", "1", "--mca",
				"oob_tcp_if_include", network, "--mca", "btl_tcp_if_include", network, "-x", "MASTER_ADDR", "-x",
				"TUTTI_SECURITY_TOKEN", "-x", "TUTTI_VECTORS", "-x", "TUTTI_JAVA_OPTS", "--bind-to", "none", "-np",
				String.valueOf(HOSTS), "--host", oneRankPerHost()));
	}

	@Test
	void mpichStartsRanksOnAllHosts() throws Exception {
		Assumptions.assumeTrue(TestHosts.isInstalled("mpiexec.hydra"), "MPICH is not installed");
		assertBenchmark(
				Stream.of("mpiexec.hydra", "-launcher", "ssh", "-launcher-exec", hosts.remoteShell(folder).toString(),
						"-localhost", TestHosts.address(0), "-hosts", oneRankPerHost(), "-n", String.valueOf(HOSTS)));
	}

	private static String oneRankPerHost() {
		return IntStream.range(0, HOSTS)
			.mapToObj((host) -> TestHosts.address(host) + ":1")
			.collect(Collectors.joining(","));
	}

	/** The real program under a launcher that runs on host 0. */
	private void assertBenchmark(Stream<String> launcher) throws Exception {
		List<String> whole = Stream
			.concat(launcher,
					Stream.of(Launcher.script(), "bench", "--collective", "all-reduce", "--max-bytes", "64",
							"--iterations", "5", "--format", "tsv"))
			.toList();
		try (TuttiProcess bench = TuttiProcess.run(folder, Map.of("MASTER_ADDR", TestHosts.address(0),
				"TUTTI_SECURITY_TOKEN", "a token", "TUTTI_VECTORS", "false"), hosts.on(0, whole))) {
			assertThat(bench.exitCode(LIMIT)).as(bench.output()).isZero();
			assertThat(bench.output()).contains("tutti\t").contains("\tallreduce\t" + HOSTS + "\t64\t");
		}
	}

	/** Forms a group of the ranks of the case before, or of new ones. */
	private void join(String masterAddress) throws Exception {
		if (ranks.isEmpty()) {
			ranks = startRanks();
		}
		ranks.forEach(TuttiProcess::forget);
		this.inGroup = true;
		order(masterAddress);
	}

	private static List<TuttiProcess> startRanks() throws Exception {
		List<TuttiProcess> started = new ArrayList<>();
		for (int rank = 0; rank < RANKS; rank++) {
			Map<String, String> environment = new HashMap<>(environment(rank, RANKS));
			environment.putAll(Map.of("LOCAL_RANK", String.valueOf(rank % 2), "LOCAL_WORLD_SIZE", "2"));
			List<String> program = TuttiProcess.java();
			program.addAll(List.of("-cp", System.getProperty("java.class.path"), HostRank.class.getName()));
			started.add(TuttiProcess.run(folder, environment, hosts.on(rank / 2, program)));
		}
		return started;
	}

	private void leave() throws Exception {
		order(HostRank.LEAVE);
		awaitAll(" left$");
		this.inGroup = false;
	}

	private static Map<String, String> environment(int rank, int worldSize) {
		return Map.of("RANK", String.valueOf(rank), "WORLD_SIZE", String.valueOf(worldSize), "MASTER_PORT", "29500",
				"TUTTI_SECURITY_TOKEN", "a token", "TUTTI_VECTORS", "false");
	}

	private static void order(String order) throws Exception {
		for (TuttiProcess rank : ranks) {
			rank.type(order);
		}
	}

	private static void awaitAll(String pattern) {
		ranks.forEach((rank) -> rank.awaitLine(pattern, LIMIT));
	}

}
