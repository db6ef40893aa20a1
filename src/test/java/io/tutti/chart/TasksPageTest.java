package io.tutti.chart;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import com.marcnuri.helm.Helm;
import com.marcnuri.helm.TemplateCommand;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

/**
 * The command of the page about a user's own network renders the job that it describes.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class TasksPageTest {

	private static final Pattern COMMAND = Pattern.compile("^ {4}(helm install (?:.*\\\\\n)*.*)$", Pattern.MULTILINE);

	private static final Pattern VALUE = Pattern.compile("--(set|set-json) (?:'([\\w.]+)=([^']*)'|([\\w.]+)=(\\S+))");

	@TempDir
	private Path folder;

	@Test
	void theCommandStartsTheTaskOfTheJarOnFourPods() throws IOException {
		Matcher command = COMMAND.matcher(Files.readString(Path.of("src", "docs", "tasks.md")));
		assertThat(command.find()).isTrue();
		assertThat(command.group(1)).startsWith("helm install fit helm/tutti ");
		Rendered rendered = render(command.group(1));
		assertThat(command.find()).as("another command").isFalse();
		JsonNode rank = rendered.rank();
		assertThat(rank.path("image").asString()).startsWith("registry.example/fit:");
		assertThat(rank.path("args").valueStream().map(JsonNode::asString)).containsExactly("train",
				"--task=com.acme.Fit", "--class-path=/tasks/fit.jar", "--epochs", "20", "--", "--hidden", "16");
		assertThat(rendered.jobSpec().path("completions").asInt()).isEqualTo(4);
		assertThat(rendered.jobSpec().path("parallelism").asInt()).isEqualTo(4);
		assertThatCode(() -> KubernetesSchema.check(rendered.workload())).doesNotThrowAnyException();
	}

	/** Lists, which Helm's command line writes in braces or as JSON, are in a file. */
	private Rendered render(String command) throws IOException {
		TemplateCommand template = new Helm(Chart.FOLDER).template().withName("fit").withKubeVersion("1.33.0");
		Map<String, String> lists = new LinkedHashMap<>();
		Matcher value = VALUE.matcher(command);
		int values = 0;
		while (value.find()) {
			String key = (value.group(2) != null) ? value.group(2) : value.group(4);
			String text = (value.group(2) != null) ? value.group(3) : value.group(5);
			if (value.group(1).equals("set-json")) {
				lists.put(key, text);
			}
			else if (text.startsWith("{")) {
				lists.put(key, "[" + text.substring(1, text.length() - 1) + "]");
			}
			else {
				template.set(key, text);
			}
			values++;
		}
		assertThat(values).isEqualTo(5);
		StringBuilder file = new StringBuilder("workload:\n");
		lists.forEach((key, list) -> file.append("  ")
			.append(key.substring("workload.".length()))
			.append(": ")
			.append(list)
			.append('\n'));
		return Rendered
			.parse(template.withValuesFile(Files.writeString(this.folder.resolve("values.yaml"), file)).call());
	}

}
