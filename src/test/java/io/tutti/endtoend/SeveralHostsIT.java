package io.tutti.endtoend;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Three hosts with two ranks each, on a network with configurable delay, frame loss and
 * link failure.
 */
@Timeout(180)
class SeveralHostsIT {

	private static final int HOSTS = 3;

	private static final int RANKS = 2 * HOSTS;

	private static final Duration LIMIT = Duration.ofSeconds(90);

	@TempDir
	Path folder;

	private TestHosts hosts;

	private final List<TuttiProcess> ranks = new ArrayList<>();

	@BeforeEach
	void makeHosts() throws Exception {
		TestHosts.assumePossible();
		this.hosts = new TestHosts(HOSTS);
	}

	@AfterEach
	void removeHosts() throws Exception {
		this.ranks.forEach(TuttiProcess::close);
		if (this.hosts != null) {
			this.hosts.close();
		}
	}

	@Test
	void everyCollectiveIsRightAlsoWithTwentyMillisecondsOfDelayAndOneFrameInAHundredLost() throws Exception {
		startRanks(TestHosts.address(0));
		assertThat(this.ranks).allSatisfy((rank) -> {
			Matcher joined = rank.awaitLine("joined; members (.*)", LIMIT);
			assertThat(joined.group(1)).contains("10.77.0.1", "10.77.0.2", "10.77.0.3").doesNotContain("127.0.0.1");
		});
		assertThat(this.ranks)
			.allSatisfy((rank) -> assertThat(rank.awaitLine("joined; .*", LIMIT).group()).contains("over shm+tcp"));
		order("collectives");
		awaitAll("found everything right");
		this.hosts.network().disturb(Duration.ofMillis(20), 0.01);
		long start = System.nanoTime();
		order("collectives");
		for (TuttiProcess rank : this.ranks) {
			rank.awaitLines("found everything right", 2, LIMIT);
		}
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(Duration.ofMillis(400));
		endOrderly();
	}

	@Test
	void aLinkCutInTheMiddleOfACallFailsEveryRankByName() throws Exception {
		startRanks(TestHosts.address(0));
		order("endless");
		awaitAll("is under way");
		long cut = System.nanoTime();
		this.hosts.network().cut(2);
		List<String> ends = new ArrayList<>();
		for (TuttiProcess rank : this.ranks) {
			ends.add(rank.awaitLine("failed after .*", LIMIT).group());
		}
		assertThat(Duration.ofNanos(System.nanoTime() - cut)).isLessThan(HostRank.CALL);
		assertThat(ends.subList(0, 4)).allSatisfy((end) -> assertThat(end).containsPattern("rank [45] lost"));
		assertThat(ends.subList(4, RANKS)).allSatisfy((end) -> assertThat(end).contains("rank 0 lost"));
	}

	/** Both hosts reach rank 0, which sees nothing of it. */
	@ParameterizedTest
	@ValueSource(strings = { "endless", "messages" })
	void hostsThatOnlyLoseEachOtherFailLongBeforeTheDeadline(String calls) throws Exception {
		startRanks(TestHosts.address(0));
		order(calls);
		awaitAll("is under way");
		long cut = System.nanoTime();
		this.hosts.network().separate(1, 2);
		for (TuttiProcess rank : this.ranks) {
			assertThat(rank.awaitLine("failed after .*", LIMIT).group()).containsPattern("rank [2345] lost")
				.containsPattern("has not answered|timed out");
		}
		assertThat(Duration.ofNanos(System.nanoTime() - cut)).isLessThan(HostRank.CALL);
	}

	@Test
	void ranksThatMeetOverIpv6ReduceOverIt() throws Exception {
		startRanks("[" + TestHosts.ipv6Address(0) + "]");
		assertThat(this.ranks).allSatisfy((rank) -> {
			Matcher joined = rank.awaitLine("joined; members (.*)", LIMIT);
			assertThat(joined.group(1)).contains("fd77:0:0:0:0:0:0:3").doesNotContain("10.77.0");
		});
		order("collectives");
		awaitAll("found everything right");
		endOrderly();
	}

	@Test
	void requiredSharedMemoryIsRefusedIfEveryRankIsOnAHostOfItsOwn() throws Exception {
		for (int rank = 0; rank < 2; rank++) {
			this.ranks.add(TuttiProcess.run(this.folder, environment(rank, 2, TestHosts.address(0)), this.hosts.on(rank,
					List.of(Launcher.script(), "bench", "--transport", "shm", "--iterations", "1"))));
		}
		for (TuttiProcess rank : this.ranks) {
			assertThat(rank.exitCode(LIMIT)).as(rank.output()).isEqualTo(64);
			assertThat(rank.output()).contains("the ranks of group world do not all share memory",
					"Set tutti.transport.kind to auto");
		}
	}

	@Test
	void openMpiStartsRanksOnAllHosts() throws Exception {
		Assumptions.assumeTrue(TestHosts.isInstalled("mpirun.openmpi"), "Open MPI is not installed");
		String hostList = IntStream.range(0, HOSTS)
			.mapToObj((host) -> TestHosts.address(host) + ":2")
			.collect(java.util.stream.Collectors.joining(","));
		String network = "10.77.0.0/24";
		assertBenchmark(Stream.of("mpirun.openmpi", "--allow-run-as-root", "--mca", "plm_rsh_agent",
				this.hosts.remoteShell(this.folder).toString(), "--mca", "plm_rsh_no_tree_spawn", "1", "--mca",
				"oob_tcp_if_include", network, "--mca", "btl_tcp_if_include", network, "-x", "MASTER_ADDR", "-x",
				"TUTTI_SECURITY_TOKEN", "-x", "TUTTI_VECTORS", "-x", "TUTTI_JAVA_OPTS", "--bind-to", "none", "-np",
				String.valueOf(RANKS), "--host", hostList));
	}

	@Test
	void mpichStartsRanksOnAllHosts() throws Exception {
		Assumptions.assumeTrue(TestHosts.isInstalled("mpiexec.hydra"), "MPICH is not installed");
		String hostList = IntStream.range(0, HOSTS)
			.mapToObj((host) -> TestHosts.address(host) + ":2")
			.collect(java.util.stream.Collectors.joining(","));
		assertBenchmark(Stream.of("mpiexec.hydra", "-launcher", "ssh", "-launcher-exec",
				this.hosts.remoteShell(this.folder).toString(), "-localhost", TestHosts.address(0), "-hosts", hostList,
				"-n", String.valueOf(RANKS)));
	}

	/** The real program under a launcher that runs on host 0. */
	private void assertBenchmark(Stream<String> launcher) throws Exception {
		List<String> whole = Stream
			.concat(launcher,
					Stream.of(Launcher.script(), "bench", "--collective", "all-reduce", "--max-bytes", "64",
							"--iterations", "5", "--format", "tsv"))
			.toList();
		TuttiProcess bench = TuttiProcess.run(this.folder, Map.of("MASTER_ADDR", TestHosts.address(0),
				"TUTTI_SECURITY_TOKEN", "a token", "TUTTI_VECTORS", "false"), this.hosts.on(0, whole));
		this.ranks.add(bench);
		assertThat(bench.exitCode(LIMIT)).as(bench.output()).isZero();
		assertThat(bench.output()).contains("tutti\t").contains("\tallreduce\t" + RANKS + "\t64\t");
	}

	private void startRanks(String masterAddress) throws Exception {
		for (int rank = 0; rank < RANKS; rank++) {
			Map<String, String> environment = new HashMap<>(environment(rank, RANKS, masterAddress));
			environment.putAll(Map.of("LOCAL_RANK", String.valueOf(rank % 2), "LOCAL_WORLD_SIZE", "2"));
			List<String> program = TuttiProcess.java();
			program.addAll(List.of("-cp", System.getProperty("java.class.path"), HostRank.class.getName()));
			this.ranks.add(TuttiProcess.run(this.folder, environment, this.hosts.on(rank / 2, program)));
		}
	}

	private static Map<String, String> environment(int rank, int worldSize, String masterAddress) {
		return Map.of("RANK", String.valueOf(rank), "WORLD_SIZE", String.valueOf(worldSize), "MASTER_ADDR",
				masterAddress, "MASTER_PORT", "29500", "TUTTI_SECURITY_TOKEN", "a token", "TUTTI_VECTORS", "false");
	}

	private void order(String order) throws Exception {
		for (TuttiProcess rank : this.ranks) {
			rank.type(order);
		}
	}

	private void awaitAll(String pattern) {
		this.ranks.forEach((rank) -> rank.awaitLine(pattern, LIMIT));
	}

	private void endOrderly() throws Exception {
		for (TuttiProcess rank : this.ranks) {
			rank.endInput();
		}
		for (TuttiProcess rank : this.ranks) {
			assertThat(rank.exitCode(LIMIT)).as(rank.output()).isZero();
		}
	}

}
