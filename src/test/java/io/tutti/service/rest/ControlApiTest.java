package io.tutti.service.rest;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;

import io.tutti.engine.control.PeerStatus;
import io.tutti.service.TuttiApplication;
import io.tutti.service.group.FakeGroup;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpMethod;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(60)
@SpringBootTest(classes = TuttiApplication.class, properties = { FormedRank.RANK, FormedRank.WORLD_SIZE })
@AutoConfigureMockMvc
@Import(FormedRank.class)
class ControlApiTest {

	@Autowired
	private MockMvcTester http;

	@Autowired
	private FakeGroup group;

	@Test
	void anAbortPassesItsReasonToTheGroup() {
		assertThat(post("control/abort", "{\"reason\":\"  wrong\\ndata \"}")).hasStatus(HttpStatus.ACCEPTED)
			.bodyJson()
			.isStrictlyEqualTo("{\"action\":\"abort\",\"reason\":\"wrong data\"}");
		Awaitility.await().untilAsserted(() -> assertThat(this.group.aborts()).containsExactly("wrong data"));
	}

	@Test
	void aDrainNamesTheRankThatReceivedItAndTheReason() {
		List<String> reasons = new CopyOnWriteArrayList<>();
		this.group.onDrain(reasons::add);
		assertThat(post("control/drain", "{\"reason\":\"maintenance\"}")).hasStatus(HttpStatus.ACCEPTED);
		assertThat(reasons).containsExactly("rank 1 received the request: maintenance");
	}

	/** Only rank 0 passes such a request on. */
	@Test
	void anAbortAndADrainAreRefusedOnceRankZeroHasLeft() {
		PeerStatus zero = Objects.requireNonNull(this.group.peer(0));
		int aborts = this.group.aborts().size();
		List<String> drains = new CopyOnWriteArrayList<>();
		this.group.onDrain(drains::add);
		try {
			this.group.addPeer(new PeerStatus(0, zero.host(), zero.port(), 12, 250, PeerStatus.State.LEFT));
			for (String endpoint : List.of("control/abort", "control/drain")) {
				assertThat(post(endpoint, "{\"reason\":\"maintenance\"}")).hasStatus(HttpStatus.SERVICE_UNAVAILABLE)
					.bodyJson()
					.isLenientlyEqualTo("""
							{"type":"urn:tutti:problem:peer-lost","missingRanks":[0],"rank":1}""");
			}
		}
		finally {
			this.group.addPeer(zero);
		}
		assertThat(drains).isEmpty();
		assertThat(this.group.aborts()).hasSize(aborts);
	}

	@Test
	void aRollCallListsAnsweringAndSilentRanks() {
		this.group.answers(Map.of(0, Duration.ofNanos(250_000), 1, Duration.ZERO));
		for (MvcTestResult answer : List.of(post("roll-call", "{\"timeoutMs\":200}"),
				this.http.post().uri("/api/v1/roll-call").exchange())) {
			assertThat(answer).hasStatusOk().bodyJson().isLenientlyEqualTo("""
					{"rank":1,"worldSize":3,"silentRanks":[2],
					"answered":[{"rank":0,"roundTripMicros":250},{"rank":1,"roundTripMicros":0}]}""");
		}
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			control/abort | {}                        | reason must have
			control/abort | {"reason":" "}            | reason must have
			control/drain | {"reason":7}              | reason has a value of the wrong type
			control/drain | {"reason":"x","at":"now"} | unknown field at
			roll-call     | {"timeoutMs":0}           | 1..30000, got 0
			roll-call     | {"timeoutMs":30001}       | got 30001
			roll-call     | {"timeoutMs":-1}          | got -1
			""")
	void anInvalidArgumentIsRefusedByName(String endpoint, String body, String detail) {
		assertThat(post(endpoint, body)).hasStatus(HttpStatus.UNPROCESSABLE_CONTENT)
			.hasContentType(MediaType.APPLICATION_PROBLEM_JSON)
			.bodyText()
			.contains(detail);
	}

	@Test
	void anOverlongReasonIsRefused() {
		assertThat(post("control/drain", "{\"reason\":\"" + "x".repeat(1001) + "\"}"))
			.hasStatus(HttpStatus.UNPROCESSABLE_CONTENT);
	}

	@ParameterizedTest
	@CsvSource({ "GET,/api/v1/control/abort,405", "GET,/api/v1/nothing,404", "DELETE,/api/v1/group,405",
			"GET,/api/v2/group,404", "GET,/api/group,404", "PUT,/actuator/nothing,404" })
	void everyRefusalIsAProblemThatNamesTheRank(String method, String path, int status) {
		assertThat(this.http.method(HttpMethod.valueOf(method)).uri(path)).hasStatus(status)
			.hasContentType(MediaType.APPLICATION_PROBLEM_JSON)
			.bodyJson()
			.isLenientlyEqualTo("""
					{"type":"urn:tutti:problem:%s","rank":1,"worldSize":3,"generation":4}"""
				.formatted((status == 404) ? "not-found" : "method-not-allowed"));
	}

	@Test
	void aMissingContentTypeIsReportedAsMissing() {
		assertThat(this.http.post().uri("/api/v1/roll-call").content("{}")).hasStatus(HttpStatus.UNSUPPORTED_MEDIA_TYPE)
			.bodyText()
			.contains("Content-Type is missing; supported: application/json")
			.doesNotContain("null");
		assertThat(this.http.post().uri("/api/v1/roll-call").header("Content-Type", "").content("{}"))
			.hasStatus(HttpStatus.UNSUPPORTED_MEDIA_TYPE)
			.bodyText()
			.contains("Content-Type is missing; supported: application/json");
	}

	@Test
	void anUnsupportedMediaTypeIsAProblem() {
		assertThat(this.http.get().uri("/api/v1/group").accept(MediaType.APPLICATION_XML))
			.hasStatus(HttpStatus.NOT_ACCEPTABLE)
			.hasContentType(MediaType.APPLICATION_PROBLEM_JSON)
			.bodyJson()
			.isLenientlyEqualTo("""
					{"type":"urn:tutti:problem:not-acceptable","rank":1}""");
		assertThat(this.http.post().uri("/api/v1/roll-call").contentType(MediaType.TEXT_PLAIN).content("x"))
			.hasStatus(HttpStatus.UNSUPPORTED_MEDIA_TYPE)
			.hasContentType(MediaType.APPLICATION_PROBLEM_JSON)
			.bodyJson()
			.isLenientlyEqualTo("""
					{"type":"urn:tutti:problem:unsupported-media-type","rank":1}""");
	}

	@Test
	void anErrorOutsideOfControllersIsAProblem() {
		assertThat(this.http.get().uri("/error").requestAttr("jakarta.servlet.error.status_code", 400))
			.hasStatus(HttpStatus.BAD_REQUEST)
			.hasContentType(MediaType.APPLICATION_PROBLEM_JSON)
			.bodyText()
			.contains("\"rank\":1");
	}

	@ParameterizedTest
	@CsvSource({ "/a%20b,/a%20b", "/api/v1/group,/api/v1/group" })
	void theInstanceIsThePathThatTheClientSent(String sent, String instance) {
		assertThat(this.http.get()
			.uri("/error")
			.requestAttr("jakarta.servlet.error.status_code", 400)
			.requestAttr("jakarta.servlet.error.request_uri", sent)).bodyJson()
			.isLenientlyEqualTo("{\"instance\":\"" + instance + "\"}");
	}

	@Test
	void anInvalidPathIsNoInstance() {
		assertThat(this.http.get()
			.uri("/error")
			.requestAttr("jakarta.servlet.error.status_code", 400)
			.requestAttr("jakarta.servlet.error.request_uri", "/a%zz")).hasStatus(HttpStatus.BAD_REQUEST)
			.bodyText()
			.contains("\"rank\":1")
			.doesNotContain("%zz");
	}

	private MvcTestResult post(String endpoint, String body) {
		return this.http.post()
			.uri("/api/v1/" + endpoint)
			.contentType(MediaType.APPLICATION_JSON)
			.content(body)
			.exchange();
	}

}
