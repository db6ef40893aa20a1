package io.tutti.chart;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import com.marcnuri.helm.Helm;
import com.marcnuri.helm.LintResult;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/**
 * The rendered objects are valid Kubernetes objects.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class KubernetesSchemaTest {

	/**
	 * Allowed values of text fields, by field name, which Kubernetes' types do not check.
	 */
	private static final Map<String, Set<String>> WORDS = Map.ofEntries(
			Map.entry("completionMode", Set.of("Indexed", "NonIndexed")),
			Map.entry("podReplacementPolicy", Set.of("Failed", "TerminatingOrFailed")),
			Map.entry("restartPolicy", Set.of("Never", "Always", "OnFailure")),
			Map.entry("podManagementPolicy", Set.of("Parallel", "OrderedReady")),
			Map.entry("unhealthyPodEvictionPolicy", Set.of("AlwaysAllow", "IfHealthyBudget")),
			Map.entry("imagePullPolicy", Set.of("Always", "IfNotPresent", "Never")),
			Map.entry("medium", Set.of("", "Memory", "HugePages")), Map.entry("protocol", Set.of("TCP", "UDP", "SCTP")),
			Map.entry("operator", Set.of("In", "NotIn", "Exists", "Equal", "DoesNotExist")),
			Map.entry("action", Set.of("FailJob", "FailIndex", "Ignore", "Count", "FailJobSet")),
			Map.entry("effect", Set.of("NoSchedule", "PreferNoSchedule", "NoExecute")),
			Map.entry("whenUnsatisfiable", Set.of("DoNotSchedule", "ScheduleAnyway")),
			Map.entry("policyTypes", Set.of("Ingress", "Egress")),
			Map.entry("accessModes", Set.of("ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod")),
			Map.entry("clusterIP", Set.of("None")),
			Map.entry("restartStrategy", Set.of("Recreate", "BlockingRecreate", "InPlaceRestart")),
			Map.entry("type", Set.of("Opaque", "RuntimeDefault", "Localhost", "Unconfined", "DisruptionTarget",
					"OnDelete", "RollingUpdate")));

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

	@Test
	void theChartPassesStrictLint() {
		LintResult result = new Helm(Chart.FOLDER).lint().strict().call();
		assertThat(result.isFailed()).as("%s", result.getMessages()).isFalse();
	}

	@ParameterizedTest
	@MethodSource("scenarios")
	void everyObjectMatchesItsSchema(Path values) {
		Rendered rendered = chart.render(values);
		assertThat(rendered.objects()).isNotEmpty();
		for (JsonNode object : rendered.objects()) {
			assertThatCode(() -> check(object)).as("%s", object).doesNotThrowAnyException();
		}
	}

	@ParameterizedTest
	@MethodSource("scenarios")
	void everyTextFieldHasAnAllowedValue(Path values) {
		for (JsonNode object : chart.render(values).objects()) {
			WORDS.forEach((field, words) -> assertThat(texts(object, field)).as(field).isSubsetOf(words));
		}
	}

	@ParameterizedTest
	@MethodSource("scenarios")
	void everyObjectIsLabelledWithItsRelease(Path values) {
		List<JsonNode> objects = chart.render(values).objects();
		assertThat(objects).allSatisfy((object) -> {
			assertThat(object.at("/metadata/labels/app.kubernetes.io~1instance").asString()).isEqualTo("demo");
			assertThat(object.at("/metadata/name").asString()).startsWith("demo-tutti");
		});
		assertThat(objects.stream().map((object) -> object.path("kind") + "/" + object.at("/metadata/name")))
			.doesNotHaveDuplicates();
	}

	/** A queue may be called 4701. */
	@ParameterizedTest
	@ValueSource(strings = { "gang: {scheduler: volcano, queue: '4701'}", """
			gang: {scheduler: kueue, queue: '4701'}
			schedulerName: '4702'""" })
	void namesThatLookLikeNumbersOrBooleansStayTexts(String scheduling) {
		Rendered rendered = chart.with("""
				fullnameOverride: "true"
				nameOverride: "4700"
				%s
				networkPolicy: {httpFrom: [{podSelector: {}}]}
				priorityClassName: "4703"
				runtimeClassName: "4704"
				serviceAccountName: "4705"
				image: {pullSecrets: ["4706"]}
				checkpoint: {existingClaim: "4707"}
				token: {key: "4708"}
				podMonitor: {enabled: true}
				tls: {enabled: true, http: true, secretName: "4709", peerName: "4710", certManager: {enabled: true, \
				issuerName: "4711"}}
				""".formatted(scheduling));
		assertThat(rendered.objects()).isNotEmpty().allSatisfy((object) -> {
			assertThat(object.at("/metadata/name").isString()).as("%s", object).isTrue();
			assertThat(numbers(object)).doesNotContainAnyElementsOf(IntStream.range(4700, 4712).boxed().toList());
		});
	}

	/** The numbers at any depth. */
	private static List<Integer> numbers(JsonNode node) {
		if (node.isNumber()) {
			return List.of(node.asInt());
		}
		return node.valueStream().flatMap((child) -> numbers(child).stream()).toList();
	}

	@Test
	void aJobSetHasAJobAndOnlyKnownFields() {
		JsonNode jobSet = chart.scenario("jobset").only("JobSet");
		assertThat(jobSet.path("apiVersion").asString()).isEqualTo("jobset.x-k8s.io/v1alpha2");
		assertThat(names(jobSet.path("spec"))).containsExactlyInAnyOrder("network", "failurePolicy", "replicatedJobs");
		assertThat(names(jobSet.at("/spec/network"))).isSubsetOf("enableDNSHostnames", "subdomain",
				"publishNotReadyAddresses");
		assertThat(names(jobSet.at("/spec/failurePolicy"))).isSubsetOf("maxRestarts", "restartStrategy", "rules");
		assertThat(names(jobSet.at("/spec/replicatedJobs/0"))).containsExactlyInAnyOrder("name", "replicas",
				"template");
		assertThat(jobSet.at("/spec/failurePolicy/rules/0/name").asString())
			.matches("[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?");
	}

	@Test
	void extensionObjectsHaveOnlyKnownFields() {
		Rendered serve = chart.scenario("serve");
		assertThat(serve.only("PodMonitor").path("apiVersion").asString()).isEqualTo("monitoring.coreos.com/v1");
		assertThat(names(serve.only("PodMonitor").path("spec"))).containsExactlyInAnyOrder("selector",
				"podMetricsEndpoints");
		assertThat(names(serve.only("PodMonitor").at("/spec/podMetricsEndpoints/0"))).containsExactlyInAnyOrder("port",
				"path", "interval");
		assertThat(names(serve.only("PrometheusRule").path("spec"))).containsExactly("groups");
		assertThat(serve.only("PrometheusRule").at("/spec/groups/0/rules"))
			.allSatisfy((rule) -> assertThat(names(rule)).contains("alert", "expr", "labels", "annotations")
				.isSubsetOf("alert", "expr", "for", "labels", "annotations"));
		assertThat(names(chart.scenario("volcano").only("PodGroup").path("spec"))).isSubsetOf("minMember", "queue",
				"priorityClassName");
	}

	@Test
	void aMisspeltFieldIsRejected() {
		ObjectNode job = job();
		((ObjectNode) job.path("spec")).put("backoffLimitPerRank", 1);
		assertThatIllegalArgumentException().isThrownBy(() -> KubernetesSchema.check(job))
			.withMessageContaining("backoffLimitPerRank");
	}

	@Test
	void aTextForANumberIsRejected() {
		ObjectNode job = job();
		((ObjectNode) job.path("spec")).put("completions", "2");
		assertThatIllegalArgumentException().isThrownBy(() -> KubernetesSchema.check(job))
			.withMessageContaining("completions");
	}

	@Test
	void aMissingFieldIsRejected() {
		ObjectNode job = job();
		((ObjectNode) job.path("spec")).remove("template");
		assertThatIllegalArgumentException().isThrownBy(() -> KubernetesSchema.check(job))
			.withMessageContaining("template");
	}

	private static ObjectNode job() {
		ObjectNode job = (ObjectNode) chart.scenario("default").only("Job").deepCopy();
		KubernetesSchema.check(job);
		return job;
	}

	private static void check(JsonNode object) {
		if (KubernetesSchema.knows(object)) {
			KubernetesSchema.check(object);
			return;
		}
		assertThat(object.path("kind").asString()).isIn("JobSet", "PodMonitor", "PrometheusRule", "PodGroup",
				"Certificate");
		for (JsonNode jobs : object.at("/spec/replicatedJobs")) {
			KubernetesSchema.checkJobTemplate(jobs.path("template"));
		}
	}

	private static Set<String> names(JsonNode object) {
		return new TreeSet<>(object.propertyNames());
	}

	/** All text values of fields with this name, at any depth. */
	private static List<String> texts(JsonNode object, String field) {
		return object.findValues(field)
			.stream()
			.flatMap((value) -> value.isArray() ? value.valueStream() : Stream.of(value))
			.filter((value) -> value.isString() && !value.asString().isEmpty())
			.map(JsonNode::asString)
			.toList();
	}

}
