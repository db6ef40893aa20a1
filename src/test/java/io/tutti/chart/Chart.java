package io.tutti.chart;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;

import com.marcnuri.helm.DryRun;
import com.marcnuri.helm.Helm;

/**
 * The project's chart as rendered by Helm, for release {@code demo} in namespace
 * {@code ml}.
 */
final class Chart {

	static final Path FOLDER = Path.of("helm", "tutti");

	/** Version used in the tests; newer than the oldest supported one. */
	private static final String KUBERNETES = "1.33.0";

	/**
	 * The scenarios of the unchanged chart by values file, which several classes test.
	 */
	private static final Map<Path, Rendered> SCENARIOS = new ConcurrentHashMap<>();

	private final Path folder;

	private final boolean changed;

	private Chart(Path folder, boolean changed) {
		this.folder = folder;
		this.changed = changed;
	}

	/**
	 * A copy of the chart with its test as an ordinary object, since Helm omits hooks
	 * from the rendered objects.
	 * @param folder empty folder for the copy
	 */
	static Chart in(Path folder) {
		return copied(folder, (template) -> template, false);
	}

	/** A copy of the chart with a change applied to each template. */
	static Chart in(Path folder, UnaryOperator<String> change) {
		return copied(folder, change, true);
	}

	private static Chart copied(Path folder, UnaryOperator<String> change, boolean changed) {
		try (Stream<Path> files = Files.walk(FOLDER)) {
			for (Path file : files.toList()) {
				copy(file, folder.resolve(FOLDER.relativize(file)), change);
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		return new Chart(folder, changed);
	}

	/** The values files in the chart's {@code ci} folder. */
	static List<Path> scenarios() {
		try (Stream<Path> files = Files.list(FOLDER.resolve("ci"))) {
			return files.filter((file) -> file.toString().endsWith("-values.yaml")).sorted().toList();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	/** Renders a scenario of the chart's {@code ci} folder. */
	Rendered scenario(String name) {
		return render(FOLDER.resolve("ci").resolve(name + "-values.yaml"));
	}

	/** Renders with the given values. */
	Rendered with(String values) {
		return template(file(values));
	}

	/** Renders with the values of a scenario. */
	Rendered render(Path values) {
		return this.changed ? template(values) : SCENARIOS.computeIfAbsent(values, this::template);
	}

	private Rendered template(Path values) {
		return Rendered.parse(new Helm(this.folder).template()
			.withName("demo")
			.withNamespace("ml")
			.withKubeVersion(KUBERNETES)
			.withValuesFile(values)
			.call());
	}

	/** The notes that Helm prints after installation. */
	String notes(Path values) {
		String output = new Helm(this.folder).install()
			.clientOnly()
			.withDryRunOption(DryRun.CLIENT)
			.withName("demo")
			.withNamespace("ml")
			.withKubeVersion(KUBERNETES)
			.withValuesFile(values)
			.call()
			.getOutput();
		return output.substring(output.indexOf("NOTES:"));
	}

	private Path file(String values) {
		try {
			return Files.writeString(Files.createTempFile(this.folder, "values", ".yaml"), values);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private static void copy(Path from, Path to, UnaryOperator<String> change) throws IOException {
		if (Files.isDirectory(from)) {
			Files.createDirectories(to);
			return;
		}
		String text = Files.readString(from);
		boolean template = from.startsWith(FOLDER.resolve("templates"));
		Files.writeString(to, template ? change.apply(text.replace("    helm.sh/hook: test\n", "")) : text);
	}

}
