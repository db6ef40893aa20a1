package io.tutti.endtoend;

import java.io.File;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.jar.JarFile;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import javax.tools.ToolProvider;
import javax.xml.parsers.DocumentBuilderFactory;

import io.tutti.FreePort;
import io.tutti.TestJvm;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The plain jar as a user has it. The samples of the documentation are compiled against
 * the jar and its declared dependencies, outside this project's class path, and run as
 * two processes.
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
			"ch.qos.logback.core.Appender", "io.micrometer.observation.Observation", "io.micrometer.common.KeyValues",
			"org.yaml.snakeyaml.Yaml");

	/** The jars of {@code spring-boot-starter-webmvc} and {@code -actuator}, by name. */
	private static final Pattern WEB = Pattern.compile("(spring|tomcat-embed|jackson|micrometer|logback|slf4j|log4j"
			+ "|jul-to-slf4j|snakeyaml|commons-logging|jakarta|jspecify|HdrHistogram|LatencyUtils)[-.].*\\.jar");

	/** Jars that match {@link #WEB} but are only on this project's class path. */
	private static final Pattern NOT_WEB = Pattern.compile(".*(test|tracing|otel|opentelemetry|prometheus).*");

	private static final String NULL_ANNOTATIONS = "org.jspecify.annotations.NullMarked";

	/** The classes of the web application. */
	@TempDir
	private static Path web;

	@TempDir
	private Path folder;

	@BeforeAll
	static void compileTheWebApplication() {
		compile(web, webClassPath(), "WebSample", "FailingStarts");
	}

	@Test
	void aPlainProgramHasAGroupFromItsEnvironment() throws Exception {
		run("PlainSample", "PlainSample", classPath(List.of()));
	}

	@Test
	void aSpringApplicationHasAGroupToInject() throws Exception {
		run("SpringSample", "sample.SpringSample", classPath(SPRING));
	}

	/** The application's own endpoints are not guarded by Tutti. */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	void aWebApplicationWithAnActuatorStartsAndKeepsItsOwnEndpoints(boolean actuatorHasItsOwnPort) throws Exception {
		int port = FreePort.next();
		int actuator = actuatorHasItsOwnPort ? FreePort.next() : port;
		try (Rank host = startWeb(
				Map.of("SERVER_PORT", "" + port, "MANAGEMENT_SERVER_PORT", "" + actuator, "TUTTI_SECURITY_TOKEN", "x"),
				"host.txt")) {
			Awaitility.await()
				.atMost(Duration.ofSeconds(90))
				.ignoreExceptions()
				.until(() -> !host.process().isAlive() || ask("GET", actuator, "/actuator/health").statusCode() == 200);
			assertThat(host.process().isAlive()).as(Files.readString(host.file())).isTrue();
			HttpResponse<String> sum = ask("POST", port, "/sum");
			assertThat(sum.statusCode()).as(sum.body()).isEqualTo(200);
			assertThat(sum.body()).isEqualTo("1.0 on rank 0");
			assertThat(ask("GET", port, "/api/v1/group").body()).contains("\"worldSize\":1");
			assertThat(ask("GET", port, "/tutti/").statusCode()).isEqualTo(200);
			assertThat(ask("GET", port, "/nothing").body()).doesNotContain("urn:tutti");
		}
	}

	/** The applications compute together, each beside its own controller. */
	@Test
	void twoWebApplicationsFormAGroupAndServeItsInterface() throws Exception {
		int[] ports = { FreePort.next(), FreePort.next() };
		int rendezvous = FreePort.next();
		try (Rank first = startHost(0, ports[0], rendezvous); Rank second = startHost(1, ports[1], rendezvous)) {
			for (int port : ports) {
				Awaitility.await()
					.atMost(Duration.ofSeconds(90))
					.ignoreExceptions()
					.until(() -> !first.process().isAlive() || !second.process().isAlive()
							|| ask("GET", port, "/actuator/health/readiness").statusCode() == 200);
			}
			assertThat(first.process().isAlive()).as(Files.readString(first.file())).isTrue();
			assertThat(second.process().isAlive()).as(Files.readString(second.file())).isTrue();
			assertThat(onBoth(ports, "/sum", "")).containsExactly("3.0 on rank 0", "3.0 on rank 1");
			assertThat(onBoth(ports, "/api/v1/barrier", "Bearer x"))
				.allSatisfy((answer) -> assertThat(answer).contains("\"arrived\":2"));
			assertThat(onBoth(ports, "/api/v1/barrier", ""))
				.allSatisfy((answer) -> assertThat(answer).contains("urn:tutti:problem:auth-failed"));
			assertThat(ask("GET", ports[1], "/actuator/metrics/tutti.group.state").body()).contains("ready");
			assertThat(ask("GET", ports[1], "/actuator/rank").body()).contains("\"rank\":1");
		}
	}

	private Rank startHost(int rank, int port, int rendezvous) throws IOException {
		return startWeb(Map.of("RANK", "" + rank, "WORLD_SIZE", "2", "MASTER_PORT", "" + rendezvous,
				"TUTTI_TIMEOUT_RENDEZVOUS", "60s", "SERVER_PORT", "" + port, "TUTTI_SECURITY_TOKEN", "x",
				"MANAGEMENT_ENDPOINTS_WEB_EXPOSURE_INCLUDE", "health,metrics,rank"), "host-" + rank + ".txt");
	}

	/** Posts to both applications at the same time. */
	private static List<String> onBoth(int[] ports, String path, String authorization) {
		try (HttpClient client = HttpClient.newHttpClient()) {
			List<CompletableFuture<HttpResponse<String>>> answers = IntStream.of(ports)
				.mapToObj((port) -> HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
					.header("Content-Type", "application/json")
					.header("Authorization", authorization)
					.timeout(Duration.ofSeconds(60))
					.POST(HttpRequest.BodyPublishers.ofString("{\"label\":\"x\",\"timeoutMs\":30000}"))
					.build())
				.map((request) -> client.sendAsync(request, HttpResponse.BodyHandlers.ofString()))
				.toList();
			return answers.stream().map((answer) -> answer.join().body()).toList();
		}
	}

	/** Each message contains a part of Spring's text and none of Tutti's. */
	@Test
	void aFailureOfTheHostApplicationIsExplainedBySpringAlone() throws Exception {
		Files.writeString(this.folder.resolve("broken.yml"), "a:\n  b: 1\n c: [2\n");
		try (ServerSocket taken = new ServerSocket(0)) {
			int port = taken.getLocalPort();
			Map<String, String> words = new LinkedHashMap<>();
			words.put("--server.port=" + port, "Web server failed to start. Port " + port + " was already");
			words.put("--server.tomcat.threads.max=many", "Failed to bind properties under 'server.tomcat");
			words.put("--server.ssl.bundle=web", "SSL bundle name 'web' cannot be found");
			words.put("--spring.config.location=broken.yml", "expected <block end>");
			String[] starts = failure(Map.of("SERVER_PORT", "0"), "sample.FailingStarts",
					words.keySet().toArray(String[]::new))
				.split("(?m)^Starting with ");
			assertThat(starts).hasSize(1 + words.size());
			int start = 1;
			for (Map.Entry<String, String> setting : words.entrySet()) {
				assertThat(starts[start++]).startsWith(setting.getKey())
					.contains(setting.getValue())
					.doesNotContain("--http-port", "tutti.http", "Correct it in application.yml", "Describe it under",
							"Correct the file in the working directory");
			}
		}
	}

	@Test
	void aFailureOfTuttisOwnIsExplainedByTutti() throws Exception {
		assertThat(failure(Map.of("SERVER_PORT", "0", "TUTTI_TIMEOUT_COLLECTIVE", "soon"), "sample.WebSample"))
			.contains("tutti.timeout.collective=soon is not a time such as 10s")
			.contains("Correct it in application.yml");
	}

	/** The output of a program whose web application fails to start. */
	private String failure(Map<String, String> environment, String mainClass, String... arguments) throws Exception {
		try (Rank host = start(web, webClassPath(), environment, "host.txt", mainClass, arguments)) {
			assertThat(host.process().waitFor(90, TimeUnit.SECONDS)).as(Files.readString(host.file())).isTrue();
			assertThat(host.process().exitValue()).as(Files.readString(host.file())).isOne();
			return Files.readString(host.file());
		}
	}

	@Test
	void thePlainJarCarriesNoConfigurationFileAndWhatFindsIt() throws IOException {
		try (JarFile jar = new JarFile(LIBRARY.toFile())) {
			assertThat(jar.stream().map((entry) -> entry.getName()))
				.doesNotContain("application.yml", "application.properties")
				.contains("META-INF/spring/org.springframework.boot.autoconfigure.AutoConfiguration.imports",
						"META-INF/services/io.tutti.EnvironmentGroups", "io/tutti/ProcessGroup.class");
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
	void theDocumentationShowsTheSampleThatIsRun(String sample) throws IOException {
		assertThat(Files.readString(Path.of("src/docs/library.md"))).contains(Files.readString(source(sample)));
	}

	@Test
	void theReadmeShowsThePlainSampleThatIsRun() throws IOException {
		assertThat(Files.readString(Path.of("README.md"))).contains(Files.readString(source("PlainSample")));
	}

	/** The command below the program, with this JDK's {@code java}. */
	@Test
	void theReadmesCommandRunsThePlainSample() throws Exception {
		List<String> command = Files.readAllLines(Path.of("README.md"))
			.stream()
			.filter((line) -> line.startsWith("    ./tutti ") && line.endsWith(" PlainSample.java"))
			.map((line) -> line.strip()
				.replace(" java ", " " + Path.of(System.getProperty("java.home"), "bin", "java") + " ")
				.replace("target/app", Path.of("target/app").toAbsolutePath().toString()))
			.findFirst()
			.map((line) -> List.of(line.split(" ")))
			.orElseThrow();
		Files.copy(source("PlainSample"), this.folder.resolve("PlainSample.java"));
		try (TuttiProcess launch = TuttiProcess.start(this.folder,
				command.subList(1, command.size()).toArray(new String[0]))) {
			assertThat(launch.exitCode(Duration.ofSeconds(90))).as(launch.output()).isZero();
			assertThat(launch.output().lines()).contains("[0] 3.0 on rank 0", "[1] 3.0 on rank 1");
		}
	}

	private static HttpResponse<String> ask(String method, int port, String path)
			throws IOException, InterruptedException {
		try (HttpClient client = HttpClient.newHttpClient()) {
			return client.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
				.timeout(Duration.ofSeconds(30))
				.method(method, HttpRequest.BodyPublishers.noBody())
				.build(), HttpResponse.BodyHandlers.ofString());
		}
	}

	private void run(String sample, String mainClass, String classPath) throws Exception {
		compile(this.folder, classPath, sample);
		int port = FreePort.next();
		try (Rank first = start(mainClass, classPath, 0, port); Rank second = start(mainClass, classPath, 1, port)) {
			assertThat(first.output()).contains("3.0 on rank 0");
			assertThat(second.output()).contains("3.0 on rank 1");
		}
	}

	private static void compile(Path classes, String classPath, String... samples) {
		Stream<String> options = Stream.of("-classpath", classPath, "-d", classes.toString(), "-Werror", "-proc:none");
		String[] arguments = Stream.concat(options, Stream.of(samples).map((sample) -> source(sample).toString()))
			.toArray(String[]::new);
		assertThat(ToolProvider.getSystemJavaCompiler().run(null, null, null, arguments)).isZero();
	}

	private Rank start(String mainClass, String classPath, int rank, int port) throws IOException {
		return start(this.folder, classPath, Map.of("RANK", "" + rank, "WORLD_SIZE", "2", "MASTER_PORT", "" + port,
				"TUTTI_TIMEOUT_RENDEZVOUS", "60s"), "rank-" + rank + ".txt", mainClass);
	}

	private Rank startWeb(Map<String, String> environment, String file) throws IOException {
		return start(web, webClassPath(), environment, file, "sample.WebSample");
	}

	private Rank start(Path classes, String classPath, Map<String, String> environment, String file, String mainClass,
			String... arguments) throws IOException {
		Path output = this.folder.resolve(file);
		List<String> command = TestJvm.command("-cp", classes + File.pathSeparator + classPath, mainClass);
		command.addAll(List.of(arguments));
		ProcessBuilder builder = new ProcessBuilder(command);
		builder.environment().keySet().removeIf((name) -> name.startsWith("TUTTI_"));
		builder.environment().putAll(environment);
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

	private static String webClassPath() {
		return Stream
			.concat(Stream.of(LIBRARY.toString()),
					Stream.of(System.getProperty("java.class.path").split(File.pathSeparator)).filter(LibraryIT::isWeb))
			.collect(Collectors.joining(File.pathSeparator));
	}

	private static boolean isWeb(String jar) {
		String name = Path.of(jar).getFileName().toString();
		return WEB.matcher(name).matches() && !NOT_WEB.matcher(name).matches();
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

	/** A rank in a separate process, and the file of its output. */
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
