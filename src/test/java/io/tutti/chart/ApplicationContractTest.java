package io.tutti.chart;

import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.Backends;
import io.tutti.ExitCode;
import io.tutti.launch.ProcessProperties;
import io.tutti.launch.RankResolution;
import io.tutti.launch.ResolutionSettings;
import io.tutti.probe.GroupProbe;
import io.tutti.probe.HealthProbe;
import io.tutti.service.config.AllowedHosts;
import io.tutti.service.config.HttpProperties;
import io.tutti.service.config.RendezvousProperties;
import io.tutti.service.config.SecurityProperties;
import io.tutti.service.config.ServeProperties;
import io.tutti.service.config.TimeoutProperties;
import io.tutti.service.config.TlsProperties;
import io.tutti.service.config.TransportProperties;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.autoconfigure.ssl.PemSslBundleProperties;
import org.springframework.boot.autoconfigure.ssl.SslProperties;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.core.env.StandardEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNoException;

/**
 * The contract between chart and application: the application's own code reads each
 * variable that the chart sets, and the chart handles each of its exit codes.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class ApplicationContractTest {

	private static final String ODD_VALUES = """
			worldSize: 3
			workload: {kind: %s}
			ports: {http: 8111, rendezvous: 29111, data: 29222}
			timeouts:
			  rendezvousSeconds: 11
			  collectiveSeconds: 12
			  heartbeatSeconds: 13
			  abortSeconds: 4
			  drainSeconds: 15
			""";

	@TempDir
	private static Path folder;

	private static Chart chart;

	@BeforeAll
	static void copyTheChart() {
		chart = Chart.in(folder);
	}

	@ParameterizedTest
	@ValueSource(strings = { "Job", "StatefulSet", "JobSet" })
	void everyPodResolvesItsRank(String kind) {
		Rendered rendered = chart.with(ODD_VALUES.formatted(kind));
		String indexVariable = kind.equals("StatefulSet") ? "TUTTI_POD_INDEX" : "JOB_COMPLETION_INDEX";
		for (int rank = 0; rank < 3; rank++) {
			Map<String, String> environment = new HashMap<>(rendered.environment());
			environment.put(indexVariable, String.valueOf(rank));
			RankAssignment assignment = RankResolution
				.resolve(environment, ResolutionSettings.from(spring(environment)::getProperty))
				.assignment();
			assertThat(assignment.rank()).isEqualTo(rank);
			assertThat(assignment.worldSize()).isEqualTo(3);
			assertThat(assignment.localRank()).isZero();
			assertThat(assignment.masterAddress())
				.isEqualTo(kind.equals("JobSet") ? "demo-tutti-ranks-0-0.demo-tutti" : "demo-tutti-0.demo-tutti");
			assertThat(assignment.masterPort()).isEqualTo(29111);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "Job", "StatefulSet", "JobSet" })
	void everyRankOfAPodResolvesItsRank(String kind) {
		Rendered rendered = chart.with("worldSize: 6\nranksPerPod: 2\nworkload: {kind: %s}".formatted(kind));
		assertThat(rendered.podCount()).isEqualTo(3);
		assertThat(rendered.worldSize()).isEqualTo(6);
		List<String> variables = rendered.rank().path("env").findValuesAsString("name");
		assertThat(rendered.rank().path("args").toString()).contains(
				"--node-rank=$(" + (kind.equals("StatefulSet") ? "TUTTI_POD_INDEX" : "JOB_COMPLETION_INDEX") + ")");
		assertThat(variables.contains("TUTTI_POD_INDEX")).isEqualTo(kind.equals("StatefulSet"));
	}

	@Test
	void everyVariableIsParsedToTheIntendedValue() {
		Map<String, String> environment = chart.with(ODD_VALUES.formatted("StatefulSet")).environment();
		assertThat(bound(environment, TimeoutProperties.class)).isEqualTo(new TimeoutProperties(Duration.ofSeconds(11),
				Duration.ofSeconds(12), Duration.ofSeconds(13), Duration.ofSeconds(4), Duration.ofSeconds(15)));
		assertThat(bound(environment, HttpProperties.class).address().isAnyLocalAddress()).isTrue();
		assertThat(bound(environment, HttpProperties.class).port()).isEqualTo(8111);
		assertThat(bound(environment, RendezvousProperties.class).jobId()).isEqualTo("ml/demo-tutti");
		assertThat(bound(environment, RendezvousProperties.class).bindAddress()).isEqualTo("0.0.0.0");
		assertThat(bound(environment, TransportProperties.class).port()).isEqualTo(29222);
		assertThat(bound(environment, SecurityProperties.class).tokenFile()).hasToString("/run/secrets/tutti/token");
		assertThat(bound(environment, ServeProperties.class).linger()).isEqualTo(Duration.ofSeconds(30));
		assertThat(chart.scenario("serve").environment()).containsEntry("TUTTI_SERVE_LINGER", "0s");
	}

	/** The host names used by Services, the chart's own test and an Ingress. */
	@Test
	void ranksAcceptTheHostNamesOfTheirService() {
		List<String> own = List.of("Ranks.example.org", "*.example.org", "my_rank.", "192.0.2.9", "2001:db8::9",
				"[2001:db8::8]", "::ffff:192.0.2.1", "fe80::1%eth0", "1:2:3:4:5:6:7:8", "1::");
		Map<String, String> environment = chart
			.with("http: {allowedHosts: " + JsonMapper.shared().writeValueAsString(own) + "}")
			.environment();
		HttpProperties http = bound(environment, HttpProperties.class);
		assertThat(http.allowedHosts())
			.contains("demo-tutti", "*.demo-tutti", "*.demo-tutti.ml", "demo-tutti.ml.svc",
					"*.demo-tutti.ml.svc.cluster.local")
			.containsAll(own);
		assertThatNoException().isThrownBy(() -> AllowedHosts.of(http, bound(environment, TransportProperties.class)));
	}

	@Test
	void ranksUseTheCertificateOfTheSecret() {
		Map<String, String> environment = chart.scenario("tls").environment();
		TlsProperties tls = bound(environment, TlsProperties.class);
		assertThat(tls.peerName()).isEqualTo("demo-tutti.ml.svc");
		PemSslBundleProperties bundle = bound(environment, SslProperties.class).getBundle().getPem().get(tls.bundle());
		assertThat(bundle.isReloadOnUpdate()).isTrue();
		assertThat(bundle.getKeystore().isVerifyKeys()).isTrue();
		assertThat(bundle.getKeystore().getCertificate()).isEqualTo("file:/run/secrets/tls/tls.crt");
		assertThat(bundle.getKeystore().getPrivateKey()).isEqualTo("file:/run/secrets/tls/tls.key");
		assertThat(bundle.getTruststore().getCertificate()).isEqualTo("file:/run/secrets/tls/ca.crt");
	}

	@Test
	void theBackendIsAnApplicationProfile() {
		assertThat(Backends.names()).contains(chart.scenario("nccl").environment().get("SPRING_PROFILES_ACTIVE"));
		assertThat(chart.scenario("default").environment()).doesNotContainKeys("SPRING_PROFILES_ACTIVE",
				"TUTTI_BACKEND");
	}

	@Test
	void aProgramWithoutSpringReadsTheBackend() {
		Map<String, String> environment = chart.scenario("program").environment();
		assertThat(ProcessProperties.of(Map.of(), environment).text("tutti.backend")).isEqualTo("mpi");
	}

	@Test
	void onlyVariablesThatTheApplicationReadsAreSet() {
		assertThat(chart.scenario("serve").rank().path("env").findValuesAsString("name")).containsExactlyInAnyOrder(
				"TUTTI_WORLD_SIZE", "TUTTI_POD_INDEX", "MASTER_ADDR", "MASTER_PORT", "TUTTI_RENDEZVOUS_JOBID",
				"TUTTI_RENDEZVOUS_BINDADDRESS", "TUTTI_TRANSPORT_PORT", "TUTTI_HTTP_ADDRESS", "TUTTI_HTTP_PORT",
				"TUTTI_HTTP_ALLOWEDHOSTS", "TUTTI_SECURITY_TOKENFILE", "TUTTI_TIMEOUT_RENDEZVOUS",
				"TUTTI_TIMEOUT_COLLECTIVE", "TUTTI_TIMEOUT_HEARTBEAT", "TUTTI_TIMEOUT_ABORT", "TUTTI_TIMEOUT_DRAIN",
				"TUTTI_SERVE_LINGER", "TUTTI_VECTORS");
	}

	@Test
	void theTokenIsMountedWhereTheApplicationReadsIt() {
		JsonNode pod = chart.scenario("train").pod();
		Map<String, JsonNode> mounts = byName(pod.at("/containers/0/volumeMounts"));
		Map<String, JsonNode> volumes = byName(pod.path("volumes"));
		assertThat(mounts.get("token").path("mountPath").asString()).isEqualTo("/run/secrets/tutti");
		assertThat(volumes.get("token").at("/secret/secretName").asString()).isEqualTo("shared");
		assertThat(volumes.get("token").at("/secret/items/0/key").asString()).isEqualTo("secret");
		assertThat(volumes.get("token").at("/secret/items/0/path").asString()).isEqualTo("token");
	}

	@Test
	void everyExitCodeOfTheApplicationHasExactlyOneRule() {
		Map<String, Integer> codes = exitCodes();
		assertThat(codes).containsEntry("DONE", 0).containsEntry("BAD_CONFIGURATION", 64).hasSize(10);
		for (Map.Entry<String, Integer> code : codes.entrySet()) {
			assertThat(actions(chart.scenario("default"), code.getValue())).as("%s", code)
				.hasSize((code.getValue() == 0) ? 0 : 1);
		}
	}

	@Test
	void theImageReadsItsOwnVariables() throws IOException {
		String script = Files.readString(Path.of("src/main/docker/tutti.sh"));
		assertThat(script).contains("${TUTTI_VECTORS:-", "${TUTTI_JAVA_OPTS:-", "${TUTTI_STOP_SIGNAL:-");
		assertThat(chart.scenario("train").environment()).containsEntry("TUTTI_VECTORS", "false")
			.containsEntry("TUTTI_JAVA_OPTS", "-XX:MaxRAMPercentage=50");
	}

	@Test
	void theImageUsesTheUserAndDirectoryOfTheChart() throws IOException {
		String image = Files.readString(Path.of("Dockerfile"));
		JsonNode security = chart.scenario("default").pod().path("securityContext");
		assertThat(image).contains("\nUSER " + security.path("runAsUser") + ":" + security.path("runAsGroup") + "\n");
		assertThat(
				byName(chart.scenario("train").rank().path("volumeMounts")).get("config").path("mountPath").asString())
			.isEqualTo(workingDirectory(image) + "/config");
		assertThat(image).contains("/app/health.sh", "TUTTI_HTTP_PORT=8080", workingDirectory(image) + "/tutti.jar");
		assertThat(Files.readString(Path.of("src/main/docker/health.sh"))).contains(HealthProbe.class.getName());
	}

	/** A checkout with umask 077 has files that only their owner reads. */
	@Test
	void anyUserMayReadTheFilesOfTheImage() throws IOException {
		assertThat(Files.readString(Path.of("Dockerfile")).lines())
			.filteredOn((line) -> line.matches("COPY .* /app/[a-z]*/?"))
			.isNotEmpty()
			.allMatch((line) -> line.contains(" --chmod=755 "));
	}

	@Test
	void theTestQueriesEveryRank() {
		JsonNode container = chart.scenario("train").only("Pod").at("/spec/containers/0");
		assertThat(container.at("/command").toString()).contains("\"" + GroupProbe.class.getName() + "\"",
				"\"/app/tutti.jar\"");
		assertThat(container.path("args").valueStream().map(JsonNode::asString)).containsExactly("60",
				"http://demo-tutti-0.demo-tutti:8080", "http://demo-tutti-1.demo-tutti:8080",
				"http://demo-tutti-2.demo-tutti:8080", "http://demo-tutti-3.demo-tutti:8080");
	}

	@Test
	void theTestTrustsTheAuthorityOfTheRanks() {
		JsonNode pod = chart.scenario("tls").only("Pod").path("spec");
		assertThat(pod.at("/containers/0/args/1").asString()).isEqualTo("https://demo-tutti-0.demo-tutti:8080");
		Map<String, JsonNode> environment = byName(pod.at("/containers/0/env"));
		Map<String, String> ranks = chart.scenario("tls").environment();
		assertThat("file:" + environment.get(GroupProbe.AUTHORITY_VARIABLE).path("value").asString())
			.isEqualTo(ranks.get("SPRING_SSL_BUNDLE_PEM_RANKS_TRUSTSTORE_CERTIFICATE"));
		assertThat(environment.get(GroupProbe.PEER_NAME_VARIABLE).path("value").asString())
			.isEqualTo(ranks.get("TUTTI_TLS_PEERNAME"));
		JsonNode secret = byName(pod.path("volumes")).get("tls").path("secret");
		assertThat(secret.path("secretName").asString()).isEqualTo("demo-tutti-tls");
		assertThat(secret.path("items").toString()).isEqualTo("[{\"key\":\"ca.crt\",\"path\":\"ca.crt\"}]");
		assertThat(byName(pod.at("/containers/0/volumeMounts")).get("tls").path("mountPath").asString())
			.isEqualTo("/run/secrets/tls");
	}

	@Test
	void theTestHasTheTokenForTheRollCall() {
		JsonNode pod = chart.scenario("train").only("Pod").path("spec");
		JsonNode variable = pod.at("/containers/0/env/0");
		assertThat(variable.path("name").asString()).isEqualTo("TUTTI_SECURITY_TOKENFILE");
		assertThat(variable.path("value").asString())
			.isEqualTo(chart.scenario("train").environment().get("TUTTI_SECURITY_TOKENFILE"));
		assertThat(byName(pod.path("volumes")).get("token"))
			.isEqualTo(byName(chart.scenario("train").pod().path("volumes")).get("token"));
		assertThat(byName(pod.at("/containers/0/volumeMounts")).get("token").path("mountPath").asString())
			.isEqualTo("/run/secrets/tutti");
	}

	/** The exit codes of the application, which one class defines. */
	private static Map<String, Integer> exitCodes() {
		Map<String, Integer> codes = new LinkedHashMap<>();
		try {
			for (Field field : ExitCode.class.getFields()) {
				codes.put(field.getName(), field.getInt(null));
			}
		}
		catch (IllegalAccessException ex) {
			throw new AssertionError(ex);
		}
		return codes;
	}

	private static IntStream actions(Rendered rendered, int code) {
		return rendered.jobSpec()
			.at("/podFailurePolicy/rules")
			.valueStream()
			.flatMapToInt((rule) -> rule.at("/onExitCodes/values").valueStream().mapToInt(JsonNode::asInt))
			.filter((value) -> value == code);
	}

	private static String workingDirectory(String image) {
		return image.lines()
			.filter((line) -> line.startsWith("WORKDIR "))
			.reduce((first, last) -> last)
			.orElseThrow()
			.substring("WORKDIR ".length());
	}

	private static Map<String, JsonNode> byName(JsonNode list) {
		Map<String, JsonNode> byName = new HashMap<>();
		list.forEach((item) -> byName.put(item.path("name").asString(), item));
		return byName;
	}

	private static <T> T bound(Map<String, String> environment, Class<T> type) {
		ConfigurationProperties annotation = type.getAnnotation(ConfigurationProperties.class);
		String prefix = annotation.prefix().isEmpty() ? annotation.value() : annotation.prefix();
		return Binder.get(spring(environment)).bindOrCreate(prefix, type);
	}

	/** A Spring environment with these variables only. */
	private static StandardEnvironment spring(Map<String, String> variables) {
		StandardEnvironment environment = new StandardEnvironment();
		environment.getPropertySources().remove(StandardEnvironment.SYSTEM_PROPERTIES_PROPERTY_SOURCE_NAME);
		environment.getPropertySources()
			.replace(StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME, new SystemEnvironmentPropertySource(
					StandardEnvironment.SYSTEM_ENVIRONMENT_PROPERTY_SOURCE_NAME, new HashMap<>(variables)));
		ConfigurationPropertySources.attach(environment);
		return environment;
	}

}
