package io.tutti.chart;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/**
 * The objects of one rendering of the chart.
 */
record Rendered(List<JsonNode> objects) {

	private static final List<String> WORKLOADS = List.of("Job", "StatefulSet", "JobSet");

	static Rendered parse(String manifests) {
		LoaderOptions options = new LoaderOptions();
		options.setAllowDuplicateKeys(false);
		List<JsonNode> objects = new ArrayList<>();
		for (Object document : new Yaml(new SafeConstructor(options)).loadAll(manifests)) {
			if (document != null) {
				objects.add(JsonMapper.shared().valueToTree(document));
			}
		}
		return new Rendered(objects);
	}

	/** All objects of a kind. */
	List<JsonNode> all(String kind) {
		return this.objects.stream().filter((object) -> object.path("kind").asString().equals(kind)).toList();
	}

	/** The one object of a kind. */
	JsonNode only(String kind) {
		List<JsonNode> found = all(kind);
		if (found.size() != 1) {
			throw new AssertionError("expected one " + kind + ", got " + found.size());
		}
		return found.getFirst();
	}

	JsonNode workload() {
		return WORKLOADS.stream().flatMap((kind) -> all(kind).stream()).findFirst().orElseThrow();
	}

	/** The specification of the Job, on its own or in the JobSet. */
	JsonNode jobSpec() {
		JsonNode workload = workload();
		return workload.path("kind").asString().equals("JobSet") ? workload.at("/spec/replicatedJobs/0/template/spec")
				: workload.path("spec");
	}

	/** Labels, annotations and specification of each rank's pod. */
	JsonNode podTemplate() {
		return jobSpec().path("template");
	}

	JsonNode pod() {
		return podTemplate().path("spec");
	}

	JsonNode rank() {
		return pod().at("/containers/0");
	}

	/** All pod templates, including the test's. */
	Stream<JsonNode> pods() {
		return Stream.concat(Stream.of(pod()), all("Pod").stream().map((pod) -> pod.path("spec")));
	}

	/** Ranks in each pod, by the arguments of the launcher in it. */
	int ranksPerPod() {
		return number("--nproc-per-node=", 1);
	}

	int podCount() {
		JsonNode pods = workload().path("kind").asString().equals("StatefulSet") ? workload().at("/spec/replicas")
				: jobSpec().path("completions");
		return pods.asInt();
	}

	/** Size of the group as the ranks resolve it. */
	int worldSize() {
		return (ranksPerPod() == 1) ? Integer.parseInt(environment().get("TUTTI_WORLD_SIZE"))
				: number("--nnodes=", 0) * ranksPerPod();
	}

	private int number(String option, int otherwise) {
		return rank().path("args")
			.valueStream()
			.map(JsonNode::asString)
			.filter((word) -> word.startsWith(option))
			.mapToInt((word) -> Integer.parseInt(word.substring(option.length())))
			.findFirst()
			.orElse(otherwise);
	}

	/** The variables that the chart sets to a text value. */
	Map<String, String> environment() {
		Map<String, String> environment = new LinkedHashMap<>();
		for (JsonNode variable : rank().path("env")) {
			if (variable.has("value")) {
				environment.put(variable.path("name").asString(), variable.path("value").asString());
			}
		}
		return environment;
	}

}
