package io.tutti.chart;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The workload that starts the ranks, its reaction to exit codes, and related objects.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class WorkloadTest {

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
	void thereAreAsManyPodsAsRanks(Path values) {
		Rendered rendered = chart.render(values);
		int pods = rendered.worldSize() / rendered.ranksPerPod();
		if (rendered.all("StatefulSet").isEmpty()) {
			assertThat(rendered.jobSpec().path("completions").asInt()).isEqualTo(pods);
			assertThat(rendered.jobSpec().path("parallelism").asInt()).isEqualTo(pods);
			assertThat(rendered.jobSpec().path("completionMode").asString()).isEqualTo("Indexed");
		}
		else {
			assertThat(rendered.workload().at("/spec/replicas").asInt()).isEqualTo(pods);
		}
	}

	@ParameterizedTest
	@CsvSource({ "64, FailJob", "65, FailJob", "70, Count", "75, Count", "76, Count", "77, FailJob", "78, FailJob",
			"79, Ignore", "80, FailJob" })
	void aJobHandlesEachExitCode(int code, String action) {
		assertThat(actions(chart.scenario("default").jobSpec())).containsEntry(code, action);
		assertThat(actions(chart.scenario("jobset").jobSpec())).containsEntry(code, action);
	}

	@Test
	void aDrainEndsTheJobIfConfigured() {
		assertThat(actions(chart.scenario("train").jobSpec())).containsEntry(79, "FailJob");
	}

	@Test
	void podsDisruptedByKubernetesDoNotCount() {
		JsonNode first = chart.scenario("default").jobSpec().at("/podFailurePolicy/rules/0");
		assertThat(first.path("action").asString()).isEqualTo("Ignore");
		assertThat(first.at("/onPodConditions/0/type").asString()).isEqualTo("DisruptionTarget");
		assertThat(first.at("/onPodConditions/0/status").asString()).isEqualTo("True");
	}

	@Test
	void onlyTheExitCodeOfTheRankContainerCounts() {
		JsonNode rules = chart.scenario("default").jobSpec().at("/podFailurePolicy/rules");
		assertThat(rules.valueStream().skip(1)).hasSize(3)
			.allMatch((rule) -> rule.at("/onExitCodes/containerName").asString().equals("tutti"));
	}

	@Test
	void aFailureOfTheGroupCountsOnceForEachRank() {
		JsonNode job = chart.scenario("default").jobSpec();
		assertThat(job.path("backoffLimitPerIndex").asInt(-1)).isEqualTo(3);
		assertThat(job.path("maxFailedIndexes").asInt(-1)).isZero();
		assertThat(job.path("podReplacementPolicy").asString()).isEqualTo("Failed");
		assertThat(job.at("/template/spec/restartPolicy").asString()).isEqualTo("Never");
		assertThat(chart.scenario("train").jobSpec().path("backoffLimitPerIndex").asInt(-1)).isZero();
	}

	@Test
	void aJobHasTheConfiguredLimits() {
		JsonNode job = chart.scenario("train").only("Job").path("spec");
		assertThat(job.path("activeDeadlineSeconds").asInt()).isEqualTo(3600);
		assertThat(job.path("ttlSecondsAfterFinished").asInt()).isEqualTo(600);
		assertThat(job.path("suspend").asBoolean(true)).isFalse();
		assertThat(chart.scenario("default").only("Job").path("spec").has("suspend")).isFalse();
	}

	@Test
	void aJobSetRestartsAllRanksTogether() {
		JsonNode jobSet = chart.scenario("jobset").only("JobSet").path("spec");
		assertThat(jobSet.at("/failurePolicy/maxRestarts").asInt()).isEqualTo(5);
		assertThat(jobSet.at("/failurePolicy/rules/0/action").asString()).isEqualTo("FailJobSet");
		assertThat(jobSet.at("/failurePolicy/rules/0/onJobFailureReasons").toString())
			.isEqualTo("[\"PodFailurePolicy\",\"DeadlineExceeded\"]");
		assertThat(jobSet.at("/replicatedJobs/0/template/spec/backoffLimit").asInt(-1)).isZero();
		assertThat(jobSet.at("/network/publishNotReadyAddresses").asBoolean()).isTrue();
		assertThat(chart.scenario("jobset").all("Service")).isEmpty();
	}

	@Test
	void aStatefulSetStartsAllItsPodsAtOnce() {
		Rendered serve = chart.scenario("serve");
		JsonNode set = serve.only("StatefulSet").path("spec");
		assertThat(set.path("podManagementPolicy").asString()).isEqualTo("Parallel");
		assertThat(set.at("/updateStrategy/type").asString()).isEqualTo("OnDelete");
		assertThat(set.path("serviceName").asString()).isEqualTo(serve.only("Service").at("/metadata/name").asString());
		assertThat(set.at("/template/spec/containers/0/env/1/valueFrom/fieldRef/fieldPath").asString())
			.isEqualTo("metadata.labels['apps.kubernetes.io/pod-index']");
		assertThat(set.at("/volumeClaimTemplates/0/metadata/name").asString()).isEqualTo("scratch");
	}

	@Test
	void ranksAreResolvableBeforeTheyAreReady() {
		Rendered job = chart.scenario("default");
		JsonNode service = job.only("Service");
		assertThat(service.at("/spec/clusterIP").asString()).isEqualTo("None");
		assertThat(service.at("/spec/publishNotReadyAddresses").asBoolean()).isTrue();
		assertThat(job.pod().path("subdomain").asString()).isEqualTo(service.at("/metadata/name").asString());
	}

	@ParameterizedTest
	@MethodSource("scenarios")
	void everySelectorMatchesOnlyTheRanks(Path values) {
		Rendered rendered = chart.render(values);
		JsonNode labels = rendered.podTemplate().at("/metadata/labels");
		for (String pointer : List.of("Service /spec/selector", "StatefulSet /spec/selector/matchLabels",
				"NetworkPolicy /spec/podSelector/matchLabels", "PodDisruptionBudget /spec/selector/matchLabels",
				"PodMonitor /spec/selector/matchLabels")) {
			for (JsonNode object : rendered.all(pointer.split(" ")[0])) {
				JsonNode selector = object.at(pointer.split(" ")[1]);
				assertThat(selector.propertyStream()).as(pointer)
					.isNotEmpty()
					.allMatch((label) -> label.getValue().equals(labels.path(label.getKey())));
				assertThat(rendered.all("Pod")).allSatisfy((test) -> assertThat(selector.propertyStream()).as(pointer)
					.anyMatch((label) -> !label.getValue().equals(test.at("/metadata/labels").path(label.getKey()))));
			}
		}
	}

	@Test
	void aServingGroupLosesNoRankToAnEviction() {
		JsonNode budget = chart.scenario("serve").only("PodDisruptionBudget").path("spec");
		assertThat(budget.path("minAvailable").asInt()).isEqualTo(3);
		assertThat(budget.path("unhealthyPodEvictionPolicy").asString()).isEqualTo("AlwaysAllow");
		assertThat(chart.scenario("serve-bare").all("PodDisruptionBudget")).isEmpty();
		assertThat(chart.scenario("default").all("PodDisruptionBudget")).isEmpty();
		assertThat(chart.scenario("pods-of-ranks").only("PodDisruptionBudget").at("/spec/minAvailable").asInt())
			.isEqualTo(2);
	}

	@Test
	void kueueAdmitsByTheLabelOfTheWorkload() {
		assertThat(chart.scenario("jobset").workload().at("/metadata/labels/kueue.x-k8s.io~1queue-name").asString())
			.isEqualTo("research");
	}

	@Test
	void volcanoStartsAllRanksOrNone() {
		Rendered volcano = chart.scenario("volcano");
		JsonNode group = volcano.only("PodGroup");
		assertThat(group.at("/spec/minMember").asInt()).isEqualTo(16);
		assertThat(group.at("/spec/queue").asString()).isEqualTo("gpu");
		assertThat(volcano.pod().path("schedulerName").asString()).isEqualTo("volcano");
		assertThat(volcano.podTemplate().at("/metadata/annotations/scheduling.k8s.io~1group-name"))
			.isEqualTo(group.at("/metadata/name"));
	}

	/** The action for each exit code, from the first matching rule. */
	private static Map<Integer, String> actions(JsonNode job) {
		Map<Integer, String> actions = new HashMap<>();
		for (JsonNode rule : job.at("/podFailurePolicy/rules")) {
			for (JsonNode code : rule.at("/onExitCodes/values")) {
				actions.putIfAbsent(code.asInt(), rule.path("action").asString());
			}
		}
		return actions;
	}

}
