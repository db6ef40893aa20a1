package io.tutti.endtoend;

import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import javax.tools.ToolProvider;
import javax.xml.parsers.DocumentBuilderFactory;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The plain jar as a user has it: the README's samples are compiled against it and what
 * it declares, outside this project's class path, and run as two processes.
 */
@Timeout(180)
class LibraryIT {

	private static final Path LIBRARY = Path.of(System.getProperty("tutti.library"));

	/** One class of each jar that {@code spring-boot-starter} brings. */
	private static final List<String> SPRING = List.of("org.springframework.boot.SpringApplication",
			"org.springframework.boot.autoconfigure.SpringBootApplication", "org.springframework.core.io.Resource",
			"org.springframework.beans.factory.BeanFactory", "org.springframework.context.ApplicationContext",
			"org.springframework.aop.framework.ProxyFactory", "org.springframework.expression.Expression",
			"org.apache.commons.logging.Log", "org.slf4j.Logger", "ch.qos.logback.classic.Logger",
			"ch.qos.logback.core.Appender", "io.micrometer.observation.Observation", "io.micrometer.common.KeyValues");

	private static final String NULL_ANNOTATIONS = "org.jspecify.annotations.NullMarked";

	@TempDir
	private Path folder;

	@Test
	void aPlainProgramHasAGroupFromItsEnvironment() throws Exception {
		run("PlainSample", "PlainSample", List.of());
	}

	@Test
	void aSpringApplicationHasAGroupToInject() throws Exception {
		run("SpringSample", "sample.SpringSample", SPRING);
	}

	@Test
	void thePlainJarCarriesNoConfigurationFileAndWhatFindsIt() throws IOException {
		try (JarFile jar = new JarFile(LIBRARY.toFile())) {
			assertThat(jar.stream().map((entry) -> entry.getName()))
				.doesNotContain("application.yml", "application.properties")
				.contains("META-INF/spring/org.springframework.boot.autoconfigure.AutoConfiguration.imports",
						"META-INF/services/io.tutti.engine.EnvironmentGroups", "io/tutti/engine/ProcessGroup.class");
		}
	}

	@Test
	void allThatTheLibraryMakesAUserInheritIsTheNullAnnotations() throws Exception {
		NodeList dependencies = (NodeList) javax.xml.xpath.XPathFactory.newInstance()
			.newXPath()
			.evaluate("/project/dependencies/dependency",
					DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(new File("pom.xml")),
					javax.xml.xpath.XPathConstants.NODESET);
		List<String> inherited = new ArrayList<>();
		for (int i = 0; i < dependencies.getLength(); i++) {
			Element dependency = (Element) dependencies.item(i);
			if (!"true".equals(text(dependency, "optional")) && !"test".equals(text(dependency, "scope"))) {
				inherited.add(text(dependency, "artifactId"));
			}
		}
		assertThat(inherited).containsExactly("jspecify");
	}

	@ParameterizedTest
	@ValueSource(strings = { "PlainSample", "SpringSample" })
	void theReadmeShowsTheSampleThatIsRun(String sample) throws IOException {
		assertThat(Files.readString(Path.of("README.md"))).contains(Files.readString(source(sample)));
	}

	private void run(String sample, String mainClass, List<String> frameworks) throws Exception {
		String classPath = classPath(frameworks);
		compile(sample, classPath);
		int port = FreePort.find();
		try (Rank first = start(mainClass, classPath, 0, port); Rank second = start(mainClass, classPath, 1, port)) {
			assertThat(first.output()).contains("3.0 on rank 0");
			assertThat(second.output()).contains("3.0 on rank 1");
		}
	}

	private void compile(String sample, String classPath) {
		int code = ToolProvider.getSystemJavaCompiler()
			.run(null, null, null, "-classpath", classPath, "-d", this.folder.toString(), "-Werror", "-proc:none",
					source(sample).toString());
		assertThat(code).isZero();
	}

	private Rank start(String mainClass, String classPath, int rank, int port) throws IOException {
		Path output = this.folder.resolve("rank-" + rank + ".txt");
		ProcessBuilder builder = new ProcessBuilder(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
				"-cp", this.folder + File.pathSeparator + classPath, mainClass);
		builder.environment().keySet().removeIf((name) -> name.startsWith("TUTTI_"));
		builder.environment().put("RANK", "" + rank);
		builder.environment().put("WORLD_SIZE", "2");
		builder.environment().put("MASTER_PORT", "" + port);
		builder.environment().put("TUTTI_TIMEOUT_RENDEZVOUS", "60s");
		builder.directory(this.folder.toFile()).redirectErrorStream(true).redirectOutput(output.toFile());
		return new Rank(builder.start(), output);
	}

	private static Path source(String sample) {
		return Path.of("src/test/samples", sample + ".java");
	}

	private static String classPath(List<String> frameworks) {
		return Stream
			.concat(Stream.of(LIBRARY.toString()),
					Stream.concat(Stream.of(NULL_ANNOTATIONS), frameworks.stream()).map(LibraryIT::jarOf))
			.collect(Collectors.joining(File.pathSeparator));
	}

	private static String jarOf(String type) {
		try {
			return Path.of(Class.forName(type).getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
		}
		catch (ClassNotFoundException | URISyntaxException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static String text(Element dependency, String name) {
		NodeList found = dependency.getElementsByTagName(name);
		return (found.getLength() > 0) ? found.item(0).getTextContent() : "";
	}

	/** A rank in a process of its own, and where its output goes. */
	private record Rank(Process process, Path file) implements AutoCloseable {

		String output() throws IOException, InterruptedException {
			boolean ended = this.process.waitFor(90, TimeUnit.SECONDS);
			String output = Files.readString(this.file);
			assertThat(ended).as(output).isTrue();
			assertThat(this.process.exitValue()).as(output).isZero();
			return output;
		}

		@Override
		public void close() {
			this.process.destroyForcibly();
		}

	}

}
