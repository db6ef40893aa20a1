package io.tutti.service.rest;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import io.tutti.Collective;
import io.tutti.engine.control.BarrierOutcome;
import io.tutti.service.TuttiApplication;
import io.tutti.service.group.FakeGroup;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.ResourceLock;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.context.annotation.Import;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(60)
@ResourceLock(DescribedRank.LOCK)
@SpringBootTest(classes = TuttiApplication.class, webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT,
		properties = { FormedRank.RANK, FormedRank.WORLD_SIZE, DescribedRank.TOKEN_PROPERTY,
				DescribedRank.SMALL_BODIES })
@Import({ FormedRank.class, DescribedRank.class })
class ApiDescriptionTest {

	@Autowired
	private FakeGroup group;

	@LocalServerPort
	private int port;

	private final HttpClient client = HttpClient.newHttpClient();

	@BeforeEach
	void answerAsInTheExamples() {
		this.group.onBarrier((label, timeout) -> new BarrierOutcome(BarrierOutcome.Result.PASSED, label, 0, 3, 41,
				List.of(0L, 12L, 40L), List.of()));
		this.group.answers(Map.of(0, Duration.ofNanos(250_000), 1, Duration.ZERO));
	}

	@Test
	void everyOperationIsDescribedWithItsParametersProblemsAndAnExample() throws Exception {
		List<DescribedRank.Described> operations = DescribedRank.operations(this.port);
		assertThat(operations).hasSize(9);
		assertThat(operations.getFirst().document().at("/components/schemas/Problem/properties").propertyNames())
			.contains("detail", "hint", "rank", "calls");
		assertThat(operations.getFirst().document().at("/components/schemas/Problem").toString())
			.contains("\"type\":\"object\"", "\"required\":");
		for (DescribedRank.Described described : operations) {
			JsonNode operation = described.operation();
			assertThat(operation.path("summary").asString()).as("summary of %s", described).isNotBlank();
			assertThat(operation.path("parameters")).as("parameters of %s", described)
				.allSatisfy((parameter) -> assertThat(parameter.path("description").asString()).isNotBlank());
			operation.get("responses").properties().forEach((response) -> {
				assertThat(response.getValue().path("description").asString()).isNotBlank();
				if (response.getKey().compareTo("400") >= 0) {
					assertThat(response.getValue().at("/content/application~1problem+json/schema/$ref").asString())
						.as("%s of %s", response.getKey(), described)
						.isEqualTo("#/components/schemas/Problem");
				}
			});
			assertThat(operation.path("security").toString()).as("token for %s", described)
				.isEqualTo(described.changes() ? "[{},{\"token\":[]}]" : "");
			assertThat(operation.get("responses").propertyNames()).contains("500");
			assertThat(operation.at("/responses/200/content").propertyNames()).doesNotContain("*/*");
		}
	}

	/** A generated client may send them although its caller has not set them. */
	@Test
	void everyOperationAcceptsTheDefaultsThatItDeclares() throws Exception {
		this.group.onMatch((label, call) -> {
			throw new UnsupportedOperationException("the call is accepted");
		});
		for (DescribedRank.Described described : DescribedRank.operations(this.port)) {
			for (String path : paths(described)) {
				HttpResponse<String> answer = send(described, path + "?" + defaults(described));
				assertThat(answer.statusCode()).as("%s: %s", path, answer.body()).isIn(200, 202, 501);
			}
		}
	}

	private static List<String> paths(DescribedRank.Described described) {
		return (described.takesElements())
				? Stream.of(Collective.values()).map((one) -> described.path("{collective}", one.label())).toList()
				: List.of(described.path());
	}

	private static String defaults(DescribedRank.Described described) {
		return described.operation()
			.path("parameters")
			.valueStream()
			.filter((parameter) -> parameter.get("schema").has("default"))
			.map((parameter) -> parameter.get("name").asString() + "="
					+ parameter.get("schema").get("default").asString())
			.collect(Collectors.joining("&"));
	}

	@Test
	void bothFormatsOfTheFlightRecorderAreToldApartByTheirDescription() throws Exception {
		DescribedRank.Described described = DescribedRank.operations(this.port)
			.stream()
			.filter((each) -> each.path().endsWith("/flight-recorder"))
			.findFirst()
			.orElseThrow();
		JsonNode schema = described.operation().at("/responses/200/content/application~1json/schema");
		for (String query : List.of("", "?format=chrome-trace")) {
			assertShape(described + query, described, schema,
					JsonMapper.shared().readTree(send(described, described.path() + query).body()));
		}
	}

	@Test
	void everyExampleIsAnsweredAsDescribed() throws Exception {
		int tried = 0;
		for (DescribedRank.Described described : DescribedRank.operations(this.port)) {
			String code = described.operation().get("responses").propertyNames().iterator().next();
			JsonNode example = described.operation().at("/responses/" + code + "/content/application~1json");
			if (!example.isMissingNode()) {
				HttpResponse<String> answer = send(described, described.path());
				assertThat(answer.statusCode()).as("%s: %s", described, answer.body())
					.isEqualTo(Integer.parseInt(code));
				assertShape(described.toString(), described, example.get("schema"), example.get("example"));
				assertShape(described.toString(), described, example.get("schema"),
						JsonMapper.shared().readTree(answer.body()));
				tried++;
			}
		}
		assertThat(tried).isEqualTo(8);
	}

	private HttpResponse<String> send(DescribedRank.Described described, String target) throws Exception {
		HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + this.port + target));
		JsonNode body = described.operation().at("/requestBody/content/application~1json/example");
		if (described.changes()) {
			request.header("Content-Type", described.takesElements() ? "application/octet-stream" : "application/json")
				.header("Authorization", "Bearer " + DescribedRank.TOKEN)
				.POST(HttpRequest.BodyPublishers.ofString(body.toString()));
		}
		return this.client.send(request.build(), HttpResponse.BodyHandlers.ofString());
	}

	/**
	 * Every field has a description and the described type, and none is missing. A map
	 * has any fields.
	 */
	private static void assertShape(String where, DescribedRank.Described described, JsonNode reference,
			JsonNode value) {
		JsonNode schema = described.resolved(reference);
		if (schema.has("oneOf")) {
			List<JsonNode> matching = schema.get("oneOf")
				.valueStream()
				.map(described::resolved)
				.filter((each) -> value.propertyNames().containsAll(required(each)))
				.toList();
			assertThat(matching).as("descriptions of %s", where).hasSize(1);
			schema = matching.getFirst();
		}
		switch (schema.path("type").asString()) {
			case "object" -> {
				assertThat(value.isObject()).as(where).isTrue();
				assertThat(value.propertyNames()).as(where).containsAll(required(schema));
				if (schema.has("additionalProperties")) {
					return;
				}
				for (Map.Entry<String, JsonNode> field : value.properties()) {
					assertThat(schema.path("properties").has(field.getKey())).as("%s.%s", where, field.getKey())
						.isTrue();
					assertShape(where + "." + field.getKey(), described, schema.get("properties").get(field.getKey()),
							field.getValue());
				}
			}
			case "array" -> {
				assertThat(value.isArray()).as(where).isTrue();
				for (JsonNode element : value) {
					assertShape(where + "[]", described, schema.get("items"), element);
				}
			}
			case "integer" -> assertThat(value.isIntegralNumber()).as(where).isTrue();
			case "boolean" -> assertThat(value.isBoolean()).as(where).isTrue();
			case "number" -> assertThat(value.isNumber()).as(where).isTrue();
			case "string" -> assertThat(value.isString()).as(where).isTrue();
			default -> throw new AssertionError(where + " is described as " + schema);
		}
	}

	private static List<String> required(JsonNode schema) {
		return schema.path("required").valueStream().map(JsonNode::asString).toList();
	}

}
