package io.tutti.chart;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.tutti.launch.RankResolution;
import io.tutti.launch.ResolutionSettings;
import io.tutti.launch.ResolvedRank;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

/**
 * The chart's README and its values agree.
 */
@Timeout(value = 30, unit = TimeUnit.SECONDS)
class ChartReadmeTest {

	private static final Pattern KEY = Pattern.compile("( *)([A-Za-z]+):(.*)");

	@Test
	void theTableHasEveryValueWithItsDefaultAndDescription() throws IOException {
		List<String> table = Files.readAllLines(Chart.FOLDER.resolve("README.md"))
			.stream()
			.dropWhile((line) -> !line.equals("## Values"))
			.filter((line) -> line.startsWith("| `"))
			.toList();
		assertThat(table).containsExactlyElementsOf(expectedTable());
	}

	@Test
	void theSchemaDefinesEveryValue() throws IOException {
		JsonNode schema = JsonMapper.shared()
			.readTree(Files.readString(Chart.FOLDER.resolve("values.schema.json")))
			.path("properties");
		List<String> known = new ArrayList<>(schema.propertyNames());
		known.remove("global");
		assertThat(known).containsExactlyInAnyOrderElementsOf(values().propertyNames());
	}

	@Test
	void everyRecipeRenders(@TempDir Path folder) throws IOException {
		String readme = Files.readString(Chart.FOLDER.resolve("README.md"));
		String recipes = readme.substring(readme.indexOf("## Recipes"), readme.indexOf("## Exit codes"));
		Chart chart = Chart.in(folder);
		List<String> commands = new ArrayList<>();
		Matcher recipe = Pattern.compile("```yaml\n(.*?)```", Pattern.DOTALL).matcher(recipes);
		while (recipe.find()) {
			Rendered rendered = chart.with(recipe.group(1));
			JsonNode rank = rendered.rank();
			commands.add(String.join(" ",
					Stream.concat(rank.path("command").valueStream(), rank.path("args").valueStream())
						.map(JsonNode::asString)
						.toList()));
			assertThatCode(() -> KubernetesSchema.check(rendered.workload())).doesNotThrowAnyException();
		}
		assertThat(commands).hasSize(8)
			.contains("train --checkpoint=/checkpoints --task=com.acme.MyTask --class-path=/jars/my-task.jar"
					+ " --epochs 5 -- --width 64", "java -cp /solver/* com.acme.MpiSolver", "serve");
	}

	@Test
	void aRankOfTheKubeflowExampleResolves() throws IOException {
		String readme = Files.readString(Chart.FOLDER.resolve("README.md"));
		String example = readme.substring(readme.indexOf("apiVersion: trainer.kubeflow.org"));
		JsonNode runtime = Rendered.parse(example.substring(0, example.indexOf("```"))).only("TrainingRuntime");
		JsonNode jobs = runtime.at("/spec/template/spec/replicatedJobs/0");
		KubernetesSchema.checkJobTemplate(jobs.path("template"));
		JsonNode container = jobs.at("/template/spec/template/spec/containers/0");
		assertThat(container.path("name").asString()).isEqualTo(jobs.path("name").asString()).isEqualTo("node");
		assertThat(container.path("env").valueStream().map((variable) -> variable.path("name").asString()))
			.containsExactlyInAnyOrder("TUTTI_HTTP_ADDRESS", "TUTTI_RENDEZVOUS_BINDADDRESS", "TUTTI_SECURITY_TOKEN");
		ResolvedRank resolved = RankResolution.resolve(
				Map.of("PET_NNODES", "4", "PET_NODE_RANK", "3", "PET_NPROC_PER_NODE",
						runtime.at("/spec/mlPolicy/torch/numProcPerNode").toString(), "PET_MASTER_ADDR",
						"run-node-0-0.run", "PET_MASTER_PORT", "29400", "JOB_COMPLETION_INDEX", "3"),
				ResolutionSettings.DEFAULTS);
		assertThat(resolved.source()).isEqualTo("kubeflow");
		assertThat(resolved.assignment().rank()).isEqualTo(3);
		assertThat(resolved.assignment().masterAddress()).isEqualTo("run-node-0-0.run");
		assertThat(resolved.assignment().masterPort()).isEqualTo(29400);
	}

	private static List<String> expectedTable() throws IOException {
		List<String> rows = new ArrayList<>();
		meanings().forEach((path, meaning) -> {
			JsonNode value = values().at("/" + path.replace('.', '/'));
			rows.add("| `" + path + "` | `" + value + "` | " + meaning + " |");
		});
		return rows;
	}

	/** The comment above each value, by the path of the value. */
	private static Map<String, String> meanings() throws IOException {
		Map<String, String> meanings = new LinkedHashMap<>();
		List<String> path = new ArrayList<>();
		String comment = null;
		for (String line : Files.readAllLines(Chart.FOLDER.resolve("values.yaml"))) {
			Matcher key = KEY.matcher(line);
			if (line.strip().startsWith("#")) {
				comment = line.strip().substring(1).strip();
			}
			else if (key.matches()) {
				int depth = key.group(1).length() / 2;
				path.subList(Math.min(depth, path.size()), path.size()).clear();
				path.add(key.group(2));
				if (comment != null) {
					meanings.put(String.join(".", path), comment);
				}
				comment = null;
			}
			else {
				comment = null;
			}
		}
		return meanings;
	}

	private static JsonNode values() {
		try {
			Object values = new Yaml(new SafeConstructor(new LoaderOptions()))
				.load(Files.readString(Chart.FOLDER.resolve("values.yaml")));
			return JsonMapper.shared().valueToTree(values);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
