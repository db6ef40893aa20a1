package io.tutti.chart;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The pod of each rank: permissions, probes and scheduling.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class RankPodTest {

	@TempDir
	private static Path folder;

	private static Chart chart;

	@BeforeAll
	static void copyTheChart() {
		chart = Chart.in(folder);
	}

	static List<Path> scenarios() {
		return Chart.scenarios();
	}

	@ParameterizedTest
	@MethodSource("scenarios")
	void noPodHasMorePermissionsThanItNeeds(Path values) {
		assertThat(chart.render(values).pods()).isNotEmpty().allSatisfy((pod) -> {
			assertThat(pod.path("automountServiceAccountToken").asBoolean(true)).isFalse();
			assertThat(pod.at("/securityContext/runAsNonRoot").asBoolean()).isTrue();
			assertThat(pod.at("/securityContext/runAsUser").asInt()).isEqualTo(10001);
			assertThat(pod.at("/securityContext/seccompProfile/type").asString()).isEqualTo("RuntimeDefault");
			assertThat(pod.path("hostNetwork").asBoolean(false)).isFalse();
			JsonNode container = pod.at("/containers/0/securityContext");
			assertThat(container.path("allowPrivilegeEscalation").asBoolean(true)).isFalse();
			assertThat(container.path("readOnlyRootFilesystem").asBoolean()).isTrue();
			assertThat(container.at("/capabilities/drop").toString()).isEqualTo("[\"ALL\"]");
			assertThat(container.path("privileged").asBoolean(false)).isFalse();
		});
	}

	/** As OpenShift requires it, which chooses the user. */
	@Test
	void theUserOfThePodsCanBeLeftOut() {
		assertThat(chart.with("{podSecurityContext: {runAsUser: null, runAsGroup: null, fsGroup: null}}").pods())
			.allSatisfy((pod) -> assertThat(pod.path("securityContext").propertyNames())
				.containsExactlyInAnyOrder("runAsNonRoot", "seccompProfile"));
	}

	@ParameterizedTest
	@MethodSource("scenarios")
	void servicesOfTheNamespaceSetNoVariables(Path values) {
		assertThat(chart.render(values).pods())
			.allSatisfy((pod) -> assertThat(pod.path("enableServiceLinks").asBoolean(true)).isFalse());
	}

	@ParameterizedTest
	@MethodSource("scenarios")
	void theStartupProbeAllowsForTheRendezvous(Path values) {
		Rendered rendered = chart.render(values);
		JsonNode probe = rendered.rank().path("startupProbe");
		int seconds = probe.path("periodSeconds").asInt() * probe.path("failureThreshold").asInt();
		String rendezvous = rendered.environment().get("TUTTI_TIMEOUT_RENDEZVOUS");
		assertThat(seconds).isGreaterThanOrEqualTo(Integer.parseInt(rendezvous.replace("s", "")) + 60)
			.isLessThan(Integer.parseInt(rendezvous.replace("s", "")) + 66);
	}

	@ParameterizedTest
	@MethodSource("scenarios")
	void livenessDoesNotDependOnTheGroup(Path values) {
		Rendered rendered = chart.render(values);
		assertThat(check(rendered, "livenessProbe")).startsWith(expectedCheck(rendered, "liveness"));
		assertThat(check(rendered, "startupProbe")).startsWith(expectedCheck(rendered, "liveness"));
		assertThat(check(rendered, "readinessProbe")).startsWith(expectedCheck(rendered, "readiness"));
	}

	private static String check(Rendered rendered, String probe) {
		JsonNode found = rendered.rank().path(probe);
		return found.at("/httpGet/path").asString() + found.at("/exec/command");
	}

	private static String expectedCheck(Rendered rendered, String kind) {
		int ranks = rendered.ranksPerPod();
		return (ranks == 1) ? "/actuator/health/" + kind
				: "[\"sh\",\"/app/health.sh\",\"" + kind + "\",\"" + ranks + "\"";
	}

	/** The ranks of a program end one after another, those of a broken group linger. */
	@ParameterizedTest
	@ValueSource(strings = { "{kind: Job, program: [a]}", "{kind: StatefulSet}" })
	void aPodOfAProgramOrASetLivesWhileOneOfItsRanksDoes(String workload) {
		Rendered rendered = chart.with("{worldSize: 8, ranksPerPod: 4, workload: " + workload + "}");
		for (String probe : List.of("startupProbe", "livenessProbe")) {
			assertThat(check(rendered, probe)).endsWith("\"liveness\",\"4\",\"1\"]");
		}
		assertThat(check(rendered, "readinessProbe")).endsWith("\"readiness\",\"4\"]");
	}

	@Test
	void everyProbeOfAPodOfSeveralRanksAsksAllOfThem() {
		Rendered rendered = chart.with("{worldSize: 8, ranksPerPod: 4}");
		for (String probe : List.of("startupProbe", "livenessProbe", "readinessProbe")) {
			assertThat(check(rendered, probe)).startsWith("[\"sh\",\"/app/health.sh\"").endsWith(",\"4\"]");
			assertThat(rendered.rank().at("/" + probe + "/timeoutSeconds").asInt()).isEqualTo(15);
		}
	}

	/** A rank halts 65 s after its drain, a launcher kills its ranks after 70 s. */
	@ParameterizedTest
	@MethodSource("scenarios")
	void aPodIsKilledOnlyAfterItsDrainAndLastCheckpoint(Path values) {
		Rendered rendered = chart.render(values);
		int drainSeconds = Integer.parseInt(rendered.environment().get("TUTTI_TIMEOUT_DRAIN").replace("s", ""));
		assertThat(rendered.pod().path("terminationGracePeriodSeconds").asInt()).isEqualTo(drainSeconds + 70);
	}

	@Test
	void sharedMemoryHasASizeLimit() {
		JsonNode pod = chart.scenario("volcano").pod();
		assertThat(pod.at("/volumes/0/name").asString()).isEqualTo("shm");
		assertThat(pod.at("/volumes/0/emptyDir/medium").asString()).isEqualTo("Memory");
		assertThat(pod.at("/volumes/0/emptyDir/sizeLimit").asString()).isEqualTo("2Gi");
		assertThat(pod.at("/containers/0/volumeMounts/0/mountPath").asString()).isEqualTo("/dev/shm");
	}

	@Test
	void gpusAreAnAdditionalLimit() {
		JsonNode resources = chart.scenario("volcano").rank().path("resources");
		assertThat(resources.at("/limits/nvidia.com~1gpu").asInt()).isOne();
		assertThat(resources.at("/limits/memory").asString()).isEqualTo("2Gi");
		assertThat(chart.scenario("default").rank().at("/resources/limits").has("nvidia.com/gpu")).isFalse();
	}

	@Test
	void aPodOfSeveralRanksHasAGpuForEachAndSharesTheHeap() {
		Rendered pods = chart.scenario("pods-of-ranks");
		assertThat(pods.rank().at("/resources/limits/nvidia.com~1gpu").asInt()).isEqualTo(4);
		assertThat(pods.environment()).containsEntry("TUTTI_JAVA_OPTS", "-XX:MaxRAMPercentage=6.25")
			.doesNotContainKey("TUTTI_WORLD_SIZE");
		assertThat(chart.with("{worldSize: 4, ranksPerPod: 2, javaOptions: -Xmx1g}").environment())
			.containsEntry("TUTTI_JAVA_OPTS", "-XX:MaxRAMPercentage=12.50 -Xmx1g");
	}

	@Test
	void theLauncherOfEachPodStartsItsRanks() {
		assertThat(words(chart.scenario("pods-of-ranks"))).containsExactly("launch", "--nproc-per-node=4", "--nnodes=2",
				"--node-rank=$(JOB_COMPLETION_INDEX)", "--master-addr=demo-tutti-0.demo-tutti", "--master-port=29500",
				"train", "--checkpoint=/checkpoints");
		assertThat(words(chart.scenario("serve-pods"))).containsSequence("--node-rank=$(TUTTI_POD_INDEX)")
			.endsWith("--master-port=29500", "serve");
	}

	@Test
	void everyRankOfAPodIsReachable() {
		Rendered pods = chart.scenario("pods-of-ranks");
		assertThat(pods.rank().path("ports").findValuesAsString("name")).containsExactly("http", "http-1", "http-2",
				"http-3");
		assertThat(pods.only("PodMonitor").at("/spec/podMetricsEndpoints").findValuesAsString("port"))
			.containsExactly("http", "http-1", "http-2", "http-3");
		assertThat(pods.only("Service").at("/spec/ports").findValuesAsString("targetPort")).contains("http-3");
		assertThat(pods.only("Pod").at("/spec/containers/0/args").toString())
			.contains("\"https://demo-tutti-0.demo-tutti:8083\"", "\"https://demo-tutti-1.demo-tutti:8080\"");
	}

	@Test
	void aTaskAndItsOptionsFollowTheCommand() {
		assertThat(words(chart.scenario("task"))).endsWith("train", "--task=com.acme.MyTask",
				"--class-path=/jars/my-task.jar", "--epochs", "5", "--", "--width", "64");
		assertThat(words(chart.with("""
				workload: {kind: Job, task: com.acme.MyTask, classPath: [/a.jar, /b.jar], args: [--, --width, '64']}
				checkpoint: {existingClaim: runs}"""))).containsExactly("train", "--checkpoint=/checkpoints",
				"--task=com.acme.MyTask", "--class-path=/a.jar:/b.jar", "--", "--width", "64");
	}

	@Test
	void aProgramReplacesTheCommandOfTheImage() {
		JsonNode alone = chart.scenario("program").rank();
		assertThat(alone.path("command").valueStream().map(JsonNode::asString)).containsExactly("java", "-cp",
				"/solver/*", "com.acme.Solver", "--size", "1000");
		assertThat(alone.has("args")).isFalse();
		assertThat(alone.path("envFrom").toString()).contains("\"name\":\"solver\"");
		assertThat(words(chart.with("{worldSize: 4, ranksPerPod: 2, workload: {kind: Job, program: [python, w.py]}}")))
			.endsWith("--", "python", "w.py");
	}

	/** They are in its own command. */
	@Test
	void aProgramGetsNoJvmFlags() {
		assertThat(
				chart.with("{worldSize: 4, ranksPerPod: 2, workload: {kind: Job, program: [java, A]}}").environment())
			.doesNotContainKeys("TUTTI_JAVA_OPTS", "TUTTI_VECTORS");
	}

	@Test
	void probesAreReplacedOrLeftOut() {
		JsonNode own = chart.with("{probes: {liveness: {exec: {command: [check]}}}}").rank();
		assertThat(own.path("livenessProbe").toString()).isEqualTo("{\"exec\":{\"command\":[\"check\"]}}");
		assertThat(own.at("/readinessProbe/httpGet/path").asString()).isEqualTo("/actuator/health/readiness");
		JsonNode none = chart.with("{probes: {enabled: false}}").rank();
		assertThat(none.propertyNames()).noneMatch((name) -> name.endsWith("Probe"));
	}

	private static List<String> words(Rendered rendered) {
		return rendered.rank().path("args").valueStream().map(JsonNode::asString).toList();
	}

	@Test
	void aRankRunsWhereTheValuesPlaceIt() {
		JsonNode pod = chart.scenario("serve").pod();
		assertThat(pod.at("/topologySpreadConstraints/0/labelSelector/matchLabels/app.kubernetes.io~1component")
			.asString()).isEqualTo("rank");
		assertThat(pod.at("/tolerations/0/key").asString()).isEqualTo("dedicated");
		assertThat(pod.path("priorityClassName").asString()).isEqualTo("training");
		assertThat(pod.at("/nodeSelector/kubernetes.io~1arch").asString()).isEqualTo("amd64");
		assertThat(pod.at("/affinity/podAntiAffinity").isMissingNode()).isFalse();
		JsonNode bare = chart.scenario("serve-bare").pod();
		assertThat(bare.path("schedulerName").asString()).isEqualTo("my-scheduler");
		assertThat(bare.path("runtimeClassName").asString()).isEqualTo("gvisor");
		assertThat(bare.path("serviceAccountName").asString()).isEqualTo("ranks");
	}

	@ParameterizedTest
	@MethodSource("scenarios")
	void theTestRunsOnTheNodesOfTheRanks(Path values) {
		Rendered rendered = chart.render(values);
		for (String setting : List.of("nodeSelector", "tolerations", "runtimeClassName", "priorityClassName",
				"serviceAccountName", "imagePullSecrets", "securityContext")) {
			assertThat(rendered.all("Pod"))
				.allSatisfy((pod) -> assertThat(pod.at("/spec/" + setting)).isEqualTo(rendered.pod().path(setting)));
		}
	}

	@Test
	void aProgramIsNotAskedByTheTestOfTheChart() {
		assertThat(chart.scenario("program").all("Pod")).isEmpty();
	}

	@Test
	void aJobTrainsAndAStatefulSetServes() {
		assertThat(chart.scenario("default").rank().path("args").toString()).isEqualTo("[\"train\"]");
		assertThat(chart.scenario("serve").rank().path("args").toString()).isEqualTo("[\"serve\"]");
		assertThat(chart.scenario("jobset").rank().path("args").toString()).isEqualTo("[\"bench\"]");
	}

	@Test
	void aTrainingWritesItsCheckpointsToTheClaim() {
		Rendered train = chart.scenario("train");
		assertThat(train.rank().path("args").toString())
			.isEqualTo("[\"train\",\"--checkpoint=/checkpoints\",\"--epochs\",\"5\"]");
		assertThat(train.pod().path("volumes").toString()).contains("\"claimName\":\"runs\"");
		assertThat(train.rank().path("volumeMounts").toString()).contains("\"mountPath\":\"/checkpoints\"",
				"\"mountPath\":\"/data\"");
		assertThat(train.only("ConfigMap").at("/data/application.yml").asString()).contains("io.tutti: debug");
		assertThat(train.environment()).containsEntry("OMP_NUM_THREADS", "1");
	}

	@Test
	void anImageIsNamedByTagOrDigest() {
		assertThat(chart.scenario("default").rank().path("image").asString()).isEqualTo("tutti:0.1.0");
		assertThat(chart.scenario("train").pods().map((pod) -> pod.at("/containers/0/image").asString())).hasSize(2)
			.allMatch((image) -> image.startsWith("registry.example/ml/tutti@sha256:0123"));
	}

}
