package io.tutti.chart;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/**
 * An upgrade keeps the generated token. Helm looks the token up in a cluster; this test
 * simulates the part of the API server that answers the lookup.
 */
@Timeout(value = 60, unit = TimeUnit.SECONDS)
class KeptTokenTest {

	private static final String SECRETS = "/api/v1/namespaces/ml/secrets/demo-tutti-token";

	private static final String RESOURCES = """
			{"kind": "APIResourceList", "groupVersion": "v1", "resources": [
			  {"name": "secrets", "singularName": "", "namespaced": true, "kind": "Secret", "verbs": ["get"]}]}
			""";

	private static final String KUBECONFIG = """
			apiVersion: v1
			kind: Config
			clusters: [{name: test, cluster: {server: "http://127.0.0.1:%d"}}]
			contexts: [{name: test, context: {cluster: test, user: test}}]
			users: [{name: test, user: {}}]
			current-context: test
			""";

	/** No scenario, since those may have been rendered before. */
	private static final String DEFAULTS = "{}";

	@TempDir
	private Path folder;

	private final List<String> asked = new CopyOnWriteArrayList<>();

	private HttpServer cluster;

	private Path kubeconfig;

	@BeforeEach
	void startTheApiServer() throws IOException {
		String variable = System.getenv("KUBECONFIG");
		assumeTrue(variable != null && variable.contains("target"),
				"KUBECONFIG names no file under target, as the build would have it: Helm could ask a real cluster");
		this.kubeconfig = Path.of(variable);
		this.cluster = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
		this.cluster.start();
		Files.writeString(this.kubeconfig, KUBECONFIG.formatted(this.cluster.getAddress().getPort()));
	}

	@AfterEach
	void stopTheApiServer() throws IOException {
		if (this.cluster != null) {
			this.cluster.stop(0);
			Files.delete(this.kubeconfig);
		}
	}

	@Test
	void anUpgradeKeepsTheToken() {
		String token = Base64.getEncoder().encodeToString("kept".getBytes(StandardCharsets.UTF_8));
		answer(200, """
				{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "demo-tutti-token", "namespace": "ml"},
				 "data": {"token": "%s"}}""".formatted(token));
		assertThat(token(upgraded().with(DEFAULTS))).isEqualTo(token);
		assertThat(this.asked).containsExactly(SECRETS);
	}

	@Test
	void anUpgradeGeneratesAMissingToken() {
		answer(404, """
				{"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": "NotFound", "code": 404}""");
		assertThat(token(upgraded().with(DEFAULTS))).isNotEmpty();
		assertThat(this.asked).containsExactly(SECRETS);
	}

	@Test
	void anInstallationLooksNothingUp() {
		answer(500, "{}");
		assertThat(token(Chart.in(this.folder).with(DEFAULTS))).isNotEmpty();
		assertThat(this.asked).isEmpty();
	}

	/**
	 * Changes the chart to render an upgrade: without a cluster, Helm renders
	 * installations only.
	 */
	private Chart upgraded() {
		return Chart.in(this.folder, (template) -> template.replace(".Release.IsUpgrade", "true"));
	}

	private static String token(Rendered rendered) {
		return rendered.only("Secret").at("/data/token").asString();
	}

	private void answer(int status, String secret) {
		this.cluster.createContext("/", (exchange) -> {
			boolean isSecret = exchange.getRequestURI().getPath().equals(SECRETS);
			if (isSecret) {
				this.asked.add(SECRETS);
			}
			send(exchange, isSecret ? status : 200, isSecret ? secret : RESOURCES);
		});
	}

	private static void send(HttpExchange exchange, int status, String json) throws IOException {
		byte[] bytes = json.getBytes(StandardCharsets.UTF_8);
		exchange.getResponseHeaders().set("Content-Type", "application/json");
		exchange.sendResponseHeaders(status, bytes.length);
		try (OutputStream body = exchange.getResponseBody()) {
			body.write(bytes);
		}
	}

}
