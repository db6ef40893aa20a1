package io.tutti.chart;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import com.marcnuri.helm.Helm;
import io.tutti.engine.bootstrap.Endpoint;
import io.tutti.engine.elastic.ElasticSettings;
import io.tutti.launch.ElasticRanks;
import io.tutti.launch.ProcessProperties;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A group that continues without lost ranks: which pods are restarted, how many may be
 * missing, and how the ranks find each other.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class ElasticChartTest {

	@TempDir
	private static Path folder;

	private static Chart chart;

	@BeforeAll
	static void copyTheChart() {
		chart = Chart.in(folder);
	}

	@Test
	void aJobReplacesEachLostPodAndFailsBelowItsMinimum() {
		JsonNode job = chart.scenario("elastic").only("Job").path("spec");
		assertThat(job.path("completions").asInt()).isEqualTo(4);
		assertThat(job.path("backoffLimitPerIndex").asInt(-1)).isEqualTo(3);
		assertThat(job.path("maxFailedIndexes").asInt(-1)).isEqualTo(2);
		assertThat(job.at("/successPolicy/rules").toString()).isEqualTo("[{\"succeededCount\":2}]");
		assertThat(chart.scenario("default").jobSpec().has("successPolicy")).isFalse();
	}

	/** Kubernetes 1.29 and 1.30 refuse the field. */
	@ParameterizedTest
	@CsvSource({ "1.30.0, false", "1.31.0, true", "1.31.4-gke.1, true" })
	void aSuccessPolicyIsSetWhereKubernetesHasOne(String version, boolean policy) {
		Rendered rendered = Rendered.parse(new Helm(Chart.FOLDER).template()
			.withName("demo")
			.withKubeVersion(version)
			.withValuesFile(Chart.FOLDER.resolve("ci/elastic-values.yaml"))
			.call());
		assertThat(rendered.jobSpec().has("successPolicy")).isEqualTo(policy);
	}

	/** The ranks of a program end one after another. */
	@Test
	void aProgramEndsOnceAllItsPodsHave() {
		assertThat(chart.with("{worldSize: 4, elastic: {minRanks: 2}, workload: {kind: Job, program: [a]}}")
			.jobSpec()
			.has("successPolicy")).isFalse();
	}

	/** All its other pods have ended by then. */
	@Test
	void aProgramOfAJobSetDoesNotRunAgainForOnePod() {
		assertThat(chart.with("{worldSize: 4, elastic: {minRanks: 2}, workload: {kind: JobSet, program: [a]}}")
			.only("JobSet")
			.at("/spec/failurePolicy/rules/0/onJobFailureReasons")
			.toString()).contains("FailedIndexes");
	}

	@Test
	void aJobSetReplacesLostPodsBeforeItRestartsAllRanks() {
		Rendered rendered = chart.scenario("elastic-jobset");
		assertThat(rendered.jobSpec().has("backoffLimit")).isFalse();
		assertThat(rendered.jobSpec().path("backoffLimitPerIndex").asInt(-1)).isEqualTo(5);
		assertThat(rendered.jobSpec().path("maxFailedIndexes").asInt(-1)).isOne();
		assertThat(rendered.jobSpec().at("/successPolicy/rules/0/succeededCount").asInt()).isEqualTo(2);
		assertThat(rendered.workload().at("/spec/failurePolicy/maxRestarts").asInt()).isEqualTo(5);
		assertThat(rendered.workload().at("/spec/network/publishNotReadyAddresses").asBoolean()).isTrue();
	}

	@Test
	void theLauncherOfAPodRestartsALostRankAlone() {
		assertThat(chart.scenario("elastic-jobset").rank().path("args").toString()).contains("\"--max-restarts=5\"");
		assertThat(chart.scenario("pods-of-ranks").rank().path("args").toString()).doesNotContain("--max-restarts");
	}

	@Test
	void theRestartsOfAServingPodAreUnlimited() {
		assertThat(chart.with("{worldSize: 4, ranksPerPod: 2, workload: {kind: StatefulSet}, elastic: {minRanks: 1}}")
			.rank()
			.path("args")
			.toString()).contains("\"--max-restarts=1000000\"");
	}

	@Test
	void aPodLivesWhileOneOfItsRanksDoesAndIsReadyWhileAllAre() {
		JsonNode rank = chart.with("{worldSize: 4, ranksPerPod: 2, elastic: {minRanks: 1}}").rank();
		for (String probe : List.of("startupProbe", "livenessProbe")) {
			assertThat(rank.at("/" + probe + "/exec/command").toString()).endsWith("\"liveness\",\"2\",\"1\"]");
		}
		assertThat(rank.at("/readinessProbe/exec/command").toString()).endsWith("\"readiness\",\"2\"]");
	}

	@ParameterizedTest
	@ValueSource(strings = { "elastic", "elastic-jobset", "elastic-serve" })
	void everyRankHasAnEndpointThatItsPeersReach(String scenario) {
		Rendered rendered = chart.scenario(scenario);
		String prefix = rendered.all("JobSet").isEmpty() ? "demo-tutti-" : "demo-tutti-ranks-0-";
		int ranks = rendered.ranksPerPod();
		List<Endpoint> endpoints = ElasticSettings.endpoints(rendered.environment().get("TUTTI_ELASTIC_ENDPOINTS"));
		assertThat(endpoints).containsExactlyElementsOf(IntStream.range(0, rendered.worldSize())
			.mapToObj((rank) -> new Endpoint(prefix + rank / ranks + ".demo-tutti", 29700 + rank % ranks))
			.toList());
		List<Integer> open = endpoints.stream().map(Endpoint::port).distinct().toList();
		for (String rule : List.of("/spec/ingress/0", "/spec/egress/0")) {
			JsonNode ports = rendered.only("NetworkPolicy").at(rule).path("ports");
			assertThat(ports.isMissingNode()).as("every port").isEqualTo(ranks > 1);
			assertThat(ports.valueStream().map((port) -> port.path("port").asInt()))
				.containsAll((ranks > 1) ? List.of() : open);
		}
		for (JsonNode service : rendered.all("Service")) {
			assertThat(service.at("/spec/publishNotReadyAddresses").asBoolean()).isTrue();
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "elastic", "elastic-jobset", "elastic-serve" })
	void ranksAndLauncherReadTheBounds(String scenario) {
		Rendered rendered = chart.scenario(scenario);
		Map<String, String> environment = rendered.environment();
		ElasticRanks ranks = ElasticRanks.of(null, null, rendered.worldSize(),
				ProcessProperties.of(Map.of(), environment));
		assertThat(ranks).isNotNull();
		assertThat(ranks.least()).isEqualTo(scenario.equals("elastic-jobset") ? 3 : 2);
		assertThat(ranks.most()).isEqualTo(rendered.worldSize()).isEqualTo(ranks.endpoints().size());
		assertThat(environment.get("TUTTI_ELASTIC_QUORUM"))
			.isEqualTo(scenario.equals("elastic-jobset") ? "strict" : null);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			{worldSize: 4, elastic: {minRanks: 2}}                                                | 2
			{worldSize: 5, elastic: {minRanks: 2, quorum: strict}}                                | 3
			{worldSize: 5, elastic: {minRanks: 4, quorum: strict}}                                | 4
			{worldSize: 8, ranksPerPod: 2, elastic: {minRanks: 3}}                                | 2
			{worldSize: 3, workload: {kind: StatefulSet}, elastic: {minRanks: 2}}                 | 2
			{worldSize: 3, workload: {kind: JobSet}, elastic: {minRanks: 1}}                      | 1
			{worldSize: 3, elastic: {minRanks: 1}, job: {podDisruptionBudget: {enabled: true}}}   | 1
			""")
	void evictionsLeaveTheMinimum(String values, int pods) {
		assertThat(chart.with(values).only("PodDisruptionBudget").at("/spec/minAvailable").asInt()).isEqualTo(pods);
	}

	@Test
	void anEvictedPodLeavesAloneOnlyIfConfigured() {
		assertThat(chart.scenario("elastic").environment()).doesNotContainKey("TUTTI_STOP_SIGNAL");
		assertThat(chart.with("{elastic: {minRanks: 1, onStop: drain}}").environment())
			.doesNotContainKey("TUTTI_STOP_SIGNAL");
		assertThat(chart.with("{elastic: {minRanks: 1, onStop: leave}}").environment())
			.containsEntry("TUTTI_STOP_SIGNAL", "KILL");
	}

	@Test
	void evictionsOfAnElasticJobMayBeAllowed() {
		Rendered rendered = chart.with("{elastic: {minRanks: 1}, job: {podDisruptionBudget: {enabled: false}}}");
		assertThat(rendered.all("PodDisruptionBudget")).isEmpty();
	}

	@Test
	void aGroupThatIsNotElasticIsAsBefore() {
		Rendered rendered = chart.scenario("default");
		assertThat(rendered.environment().keySet()).noneMatch((name) -> name.contains("ELASTIC"));
		assertThat(rendered.jobSpec().path("maxFailedIndexes").asInt(-1)).isZero();
	}

}
