package io.tutti.service.rest;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Primary;

/**
 * A rank with strict body limits, and its OpenAPI description.
 */
@TestConfiguration
class DescribedRank {

	static final String TOKEN = "open sesame";

	static final String TOKEN_PROPERTY = "tutti.security.token=" + TOKEN;

	static final String SMALL_BODIES = "tutti.http-collectives.max-bytes=1KB";

	/** Tests with this rank share its group, and replace what its calls do. */
	static final String LOCK = "described-rank";

	@Bean
	@Primary
	BodyLimits strictLimits() {
		return new BodyLimits(Duration.ofMillis(1500), 2 << 20);
	}

	/** One operation of the description. */
	record Described(String method, String path, JsonNode operation, JsonNode document) {

		/** A schema, with references resolved. */
		JsonNode resolved(JsonNode schema) {
			return schema.has("$ref") ? this.document.at(schema.get("$ref").asString().substring(1)) : schema;
		}

		boolean changes() {
			return this.method.equals("POST");
		}

		boolean takesElements() {
			return this.operation.at("/requestBody/content").has("application/octet-stream");
		}

		/** The path with values for its variables. */
		String concretePath() {
			return path("{collective}", "all-reduce");
		}

		String path(String variable, String value) {
			return this.path.replace(variable, value);
		}

		@Override
		public String toString() {
			return this.method + " " + this.path;
		}

	}

	static List<Described> operations(int port) throws Exception {
		HttpResponse<String> answer = HttpClient.newHttpClient()
			.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/v3/api-docs")).build(),
					HttpResponse.BodyHandlers.ofString());
		JsonNode document = JsonMapper.shared().readTree(answer.body());
		List<Described> operations = new ArrayList<>();
		document.get("paths")
			.properties()
			.forEach((path) -> path.getValue()
				.properties()
				.forEach((method) -> operations.add(new Described(method.getKey().toUpperCase(Locale.ROOT),
						path.getKey(), method.getValue(), document))));
		return operations;
	}

}
