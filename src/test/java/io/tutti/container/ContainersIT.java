package io.tutti.container;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

import com.github.dockerjava.api.model.Network.Ipam;
import com.github.dockerjava.api.model.RestartPolicy;
import io.tutti.endtoend.PausingTask;
import io.tutti.endtoend.TaskJar;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.testcontainers.containers.Network;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Ranks in containers of the project's own image: what they do together, and what each
 * fault does to them. The rank at fault is named, and every rank ends in time with the
 * code of the failure. Cases run concurrently where the build runs several classes at a
 * time, since each mostly waits.
 */
@Order(2)
@Timeout(400)
@Execution(ExecutionMode.CONCURRENT)
class ContainersIT {

	/** A group forms in a few seconds; a busy machine takes many more. */
	private static final Duration START = Duration.ofSeconds(150);

	/** Heartbeat, verdict and the end of a JVM. */
	private static final Duration END = Duration.ofSeconds(40);

	private static final String[] SERVE = { "serve" };

	/** Where the containers find jars of tasks. */
	private static final String TASKS = "/tasks";

	@TempDir
	private static Path tasks;

	private static String image;

	private static Network network;

	@BeforeAll
	static void prepare() throws IOException, InterruptedException {
		image = ProjectImage.require();
		PausingTask.write(tasks);
		network = Network.newNetwork();
	}

	@AfterAll
	static void takeTheNetworkDown() {
		if (network != null) {
			network.close();
		}
	}

	@Test
	void threeRanksAnswerAndStopAfterTheSameStepThoughOneIsPausedInACollective() throws Exception {
		try (RankContainers job = started(pausing())) {
			for (RankContainer rank : job.all()) {
				assertThat(rank.get("/api/v1/group")).contains("\"READY\"", "\"worldSize\":3");
			}
			job.rank(1).pause();
			job.rank(2).kill("TERM");
			job.rank(1).unpause();
			for (RankContainer rank : job.all()) {
				rank.requireExit(79, END);
			}
		}
	}

	@Test
	void threeRanksTrainToTheEndAndNeedNoPlaceToWriteButSharedMemory() throws Exception {
		try (RankContainers job = job(3, "train", "--epochs", "2")) {
			for (int rank = 0; rank < 2; rank++) {
				job.start(rank);
			}
			job.start(2, Map.of(), (command) -> command.getHostConfig().withTmpFs(Map.of()));
			for (RankContainer rank : job.all()) {
				rank.requireExit(0, START);
			}
			assertThat(job.rank(0).output()).contains("3 ranks, backend tcp", "the same on every rank");
		}
	}

	@Test
	void theTaskOfAJarOnAVolumeIsTrainedOnTheProfileMpi(@TempDir Path folder) throws Exception {
		TaskJar.write(folder);
		Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
		try (RankContainers job = job(2, "train", "--task", "com.acme.Fit", "--class-path", TASKS + "/fit.jar",
				"--epochs", "5", "--", "--hidden", "16")
			.withVolume(folder, TASKS)
			.with("SPRING_PROFILES_ACTIVE", "mpi")
			.startAll()) {
			for (RankContainer rank : job.all()) {
				rank.requireExit(0, START);
			}
			assertThat(job.rank(0).output()).contains("2 ranks, backend mpi", "training on Fit: 1,000 samples",
					"49 parameters", "the same on every rank");
		}
	}

	/**
	 * As a Job of Kubernetes replaces its pods. Rank 2 receives no packet that shows the
	 * end of the others.
	 */
	@Test
	void anElasticJobContinuesWithoutAKilledContainerAndItsReplacementJoins() throws Exception {
		try (RankContainers job = started(pausing().elastic(2))) {
			int generation = 0;
			for (int lost : List.of(1, 0)) {
				List<Integer> others = List.of(1 - lost, 2);
				job.rank(lost).cutFrom(job.rank(2));
				job.rank(lost).kill("KILL");
				generation++;
				for (int rank : others) {
					job.rank(rank).awaitOutput("generation " + generation + ": ranks " + others, END);
				}
				job.replace(lost);
				generation++;
				for (RankContainer rank : job.all()) {
					rank.awaitOutput("generation " + generation + ": ranks [0, 1, 2]", START);
				}
				job.rank(lost).awaitOutput("ranks [" + lost + "] took the state of rank " + (1 - lost), START);
			}
			for (RankContainer rank : job.all()) {
				rank.awaitReady(END);
				assertThat(rank.get("/api/v1/group")).contains("\"worldSize\":3", "\"generation\":" + generation);
			}
			job.rank(2).kill("TERM");
			for (RankContainer rank : job.all()) {
				rank.requireExit(79, END);
			}
			assertThat(job.rank(0).output()).contains("3 ranks, backend tcp", "the same on every rank");
		}
	}

	/** Probes that the chart gives a pod of several ranks, and a child past its limit. */
	@Test
	void aContainerOfTwoRanksIsHealthyWhileBothAre() throws Exception {
		try (RankContainers job = job(1, "launch", "-n", "2", "serve").with("TUTTI_SERVE_LINGER", "120s")) {
			RankContainer pod = job.start(0, Map.of(), (command) -> {
			});
			pod.await("sh /app/health.sh readiness 2", START);
			assertThat(pod.health("liveness", 2)).isZero();
			assertThat(pod.health("liveness", 3)).isNotZero();
			pod.shell("sh -c 'sleep 1 & exit' >/dev/null");
			Awaitility.await()
				.atMost(END)
				.untilAsserted(() -> assertThat(pod.shell("ps -o stat,args")).doesNotContain("sleep", "Z "));
			pod.shell("kill -9 $(ps -o pid,args | grep '[t]utti.jar serve' | tail -1 | awk '{print $1}')");
			pod.await("! sh /app/health.sh readiness 2", END);
			assertThat(pod.health("liveness", 2)).isNotZero();
			assertThat(pod.health("liveness", 1)).isZero();
		}
	}

	/** As in the chart with several ranks in a pod, and with the image's own flags. */
	@Test
	void twoContainersOfTwoRanksNeedLittleMemoryAndEndWithTheCodesOfTheirRanks() throws Exception {
		try (RankContainers job = job(4, "launch").withVolume(tasks, TASKS).with("TUTTI_JAVA_OPTS", "")) {
			for (int node = 0; node < 2; node++) {
				String[] words = Stream
					.concat(Stream.of("launch", "-n", "2", "--nnodes", "2", "--node-rank", "" + node, "--master-addr",
							job.master(), "--master-port", "" + RankContainers.RENDEZVOUS_PORT),
							Stream.of(PausingTask.command(TASKS)))
					.toArray(String[]::new);
				job.start(node, Map.of(), (command) -> {
					command.withCmd(words);
					command.getHostConfig().withShmSize(64L << 20).withMemory(1L << 30);
				});
			}
			job.rank(0).awaitOutput("2/1000000", START);
			assertThat(job.rank(0).output()).contains("4 ranks, backend tcp");
			job.rank(1).kill("TERM");
			for (RankContainer pod : job.all()) {
				pod.requireExit(79, END);
			}
		}
	}

	@Test
	void aKilledRankIsNamedByTheOthers() throws Exception {
		try (RankContainers job = training("30s")) {
			job.rank(1).kill("KILL");
			requireLost(job, 1, 0, 2);
		}
	}

	/** Rank 2 notices only that rank 1 ends because of it. */
	@Test
	void aKilledRankZeroIsNamedByARankThatItsLastPacketsDoNotReach() throws Exception {
		try (RankContainers job = training("30s")) {
			job.rank(0).cutFrom(job.rank(2));
			job.rank(0).kill("KILL");
			requireLost(job, 0, 1, 2);
		}
	}

	@Test
	void aPausedRankIsNamedAfterItsHeartbeat() throws Exception {
		try (RankContainers job = training("5s")) {
			job.rank(1).pause();
			requireLost(job, 1, 0, 2);
			job.rank(1).unpause();
		}
	}

	@Test
	void aRankStoppedInACollectiveThatNeverEndsEndsAllAfterTheDrainTimeOverIpv6Alone() throws Exception {
		try (Network six = ipv6Network();
				RankContainers job = pausing(six, 3).with("TUTTI_RENDEZVOUS_BINDADDRESS", "::")
					.with("TUTTI_TIMEOUT_DRAIN", "4s")) {
			job.startAll();
			for (RankContainer rank : job.all()) {
				rank.inNetwork("iptables", "-w", "-I", "INPUT", "!", "-i", "lo", "-j", "DROP");
				rank.inNetwork("iptables", "-w", "-I", "OUTPUT", "!", "-o", "lo", "-j", "DROP");
			}
			for (RankContainer rank : job.all()) {
				rank.awaitReady(START);
			}
			assertThat(job.rank(0).get("/api/v1/group/peers")).contains("fd00:7475");
			job.rank(0).awaitOutput("loss ", START);
			job.rank(1).pause();
			job.rank(2).kill("TERM");
			for (int rank : List.of(0, 2)) {
				job.rank(rank).requireExit(79, END);
				assertThat(job.rank(rank).output())
					.contains("stop requested (rank 2 got SIGTERM), but after 4.0 s the ranks had not");
			}
		}
	}

	@Test
	void aRankCutFromDataAloneEndsTheCollectiveAtItsDeadline() throws Exception {
		try (RankContainers job = started(pausing(network, 2).with("TUTTI_TIMEOUT_COLLECTIVE", "6s"))) {
			job.rank(1).cut(RankContainers.DATA_PORT);
			for (RankContainer rank : job.all()) {
				rank.requireExit(75, END);
				assertThat(rank.output()).contains("deadline passed");
			}
		}
	}

	@Test
	void aRankCutFromTheControlPlaneAloneIsNamedAndEndsItself() throws Exception {
		try (RankContainers job = training("5s")) {
			job.rank(1).cut(RankContainers.RENDEZVOUS_PORT);
			requireLost(job, 1, 0, 2);
			job.rank(1).requireExit(76, END);
		}
	}

	@Test
	void aRankThatNeverComesIsNamedAtTheRendezvousDeadline() throws Exception {
		try (RankContainers job = job(3, SERVE).with("TUTTI_TIMEOUT_RENDEZVOUS", "12s")) {
			RankContainer master = job.start(0);
			RankContainer second = job.start(1);
			master.requireExit(75, START);
			assertThat(master.output()).contains("rank 2");
			second.requireExit(75, END);
		}
	}

	/** Without a driver a rank never comes to load them. */
	@Test
	void theImageForGpusHoldsTheBindingsOfNccl() throws Exception {
		String natives = "ls /app/natives/libjnicudart.so /app/natives/libjninccl.so";
		try (RankContainers job = new RankContainers(ProjectImage.requireForGpus(), network, 1, "-c", natives)) {
			job.start(0, Map.of(), (command) -> command.withEntrypoint("sh")).requireExit(0, END);
		}
	}

	private static Network ipv6Network() {
		return Network.builder()
			.enableIpv6(true)
			.createNetworkCmdModifier((create) -> create
				.withIpam(new Ipam().withConfig(new Ipam.Config().withSubnet("fd00:7475:7474:69::/64"))))
			.build();
	}

	private static RankContainers job(int worldSize, String... command) {
		return new RankContainers(image, network, worldSize, command);
	}

	/** Three ranks that train with pauses until they are ended. */
	private static RankContainers pausing() {
		return pausing(network, 3);
	}

	private static RankContainers pausing(Network on, int worldSize) {
		return new RankContainers(image, on, worldSize, PausingTask.command(TASKS)).withVolume(tasks, TASKS);
	}

	private static RankContainers training(String heartbeat) {
		return started(pausing().with("TUTTI_TIMEOUT_HEARTBEAT", heartbeat));
	}

	private static RankContainers started(RankContainers job) {
		return job.startAllUntil("loss ", START);
	}

	private static void requireLost(RankContainers job, int lost, int... others) {
		for (int rank : others) {
			job.rank(rank).requireExit(76, END);
			assertThat(job.rank(rank).output()).contains("rank " + lost + " lost");
		}
	}

	/**
	 * One group after the other in the same containers. Docker's restart policy stands
	 * for the cluster's.
	 */
	@Nested
	@Execution(ExecutionMode.SAME_THREAD)
	@TestInstance(TestInstance.Lifecycle.PER_CLASS)
	@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
	class AServingGroup {

		private final List<RankContainer> ranks = new ArrayList<>();

		private RankContainers job;

		@BeforeAll
		void prepareTheJob() {
			this.job = job(3, SERVE);
		}

		@AfterAll
		void end() {
			this.job.close();
		}

		private void start(int rank) {
			this.ranks.add(this.job.start(rank, Map.of(),
					(command) -> command.getHostConfig().withRestartPolicy(RestartPolicy.onFailureRestart(5))));
		}

		@Test
		@Order(1)
		void strangersAreRefusedByNameAndALateRankStillCompletesTheGroup() throws Exception {
			start(0);
			start(1);
			this.ranks.getFirst().awaitOutput("waits at", START);
			RankContainer wrongToken = this.job.start(2, Map.of("TUTTI_SECURITY_TOKEN", "guessed"), (_) -> {
			});
			RankContainer wrongSize = this.job.start(2, Map.of("WORLD_SIZE", "4"), (_) -> {
			});
			RankContainer duplicate = this.job.start(1);
			wrongToken.requireExit(77, START);
			wrongSize.requireExit(78, START);
			duplicate.requireExit(78, START);
			assertThat(wrongToken.output()).contains("token");
			assertThat(wrongSize.output()).contains("world size");
			assertThat(duplicate.output()).contains("rank 1");
			start(2);
			awaitReady();
		}

		@Test
		@Order(2)
		void aBarrierOverHttpWaitsForEveryContainer() throws Exception {
			CompletableFuture<String> first = barrier(0, "all", 60_000);
			CompletableFuture<String> second = barrier(1, "all", 60_000);
			awaitPost(0);
			awaitPost(1);
			assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> first.get(2, TimeUnit.SECONDS));
			assertThat(second).isNotDone();
			for (CompletableFuture<String> answer : List.of(first, second, barrier(2, "all", 60_000))) {
				assertThat(answer.get(30, TimeUnit.SECONDS)).contains("\"arrived\":3");
			}
			CompletableFuture<String> patient = barrier(2, "two", 60_000);
			awaitPost(2);
			assertThat(barrier(0, "two", 1500).get(30, TimeUnit.SECONDS)).contains("504");
			assertThat(patient.get(30, TimeUnit.SECONDS)).contains("504");
			assertThat(barrier(1, "two", 60_000).get(30, TimeUnit.SECONDS)).contains("409");
			assertThat(this.ranks.getFirst().get("/api/v1/group")).contains("\"READY\"");
		}

		@ParameterizedTest(name = "rank {0}")
		@ValueSource(ints = { 1, 0 })
		@Order(3)
		void aLostRankIsNamedAndTheGroupFormsAnewWhenItIsBack(int lost) throws Exception {
			this.ranks.get(lost).crash();
			for (int rank = 0; rank < 3; rank++) {
				if (rank != lost) {
					this.ranks.get(rank).awaitOutput("rank " + lost + " lost", END);
				}
			}
			awaitReady();
		}

		private void awaitReady() {
			for (RankContainer rank : this.ranks) {
				rank.awaitReady(START);
			}
		}

		/** Waits until a rank handles a request that changes state. */
		private void awaitPost(int rank) {
			this.ranks.get(rank)
				.await("wget -q -O - http://127.0.0.1:8080/actuator/prometheus"
						+ " | grep '^http_server_requests_active_seconds_count.*method=\"POST\"' | grep -qv ' 0$'",
						START);
		}

		private CompletableFuture<String> barrier(int rank, String label, int timeoutMillis) {
			CompletableFuture<String> answer = new CompletableFuture<>();
			Thread.ofVirtual().start(() -> {
				try {
					answer.complete(this.ranks.get(rank)
						.post("/api/v1/barrier", "{\"label\":\"" + label + "\",\"timeoutMs\":" + timeoutMillis + "}"));
				}
				catch (IOException | InterruptedException ex) {
					answer.completeExceptionally(ex);
				}
			});
			return answer;
		}

	}

}
