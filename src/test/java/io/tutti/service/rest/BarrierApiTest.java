package io.tutti.service.rest;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

import io.tutti.CollectiveException;
import io.tutti.Failure;
import io.tutti.engine.Timeouts;
import io.tutti.engine.control.BarrierOutcome;
import io.tutti.service.TuttiApplication;
import io.tutti.service.group.FakeGroup;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(60)
@SpringBootTest(classes = TuttiApplication.class, properties = { FormedRank.RANK, FormedRank.WORLD_SIZE })
@AutoConfigureMockMvc
@Import(FormedRank.class)
class BarrierApiTest {

	@Autowired
	private MockMvcTester http;

	@Autowired
	private FakeGroup group;

	@BeforeEach
	void expectNoBarrier() {
		this.group.onBarrier((label, timeout) -> {
			throw new AssertionError("no barrier was expected");
		});
	}

	@Test
	void aPassedBarrierReportsWhenEachRankArrived() {
		this.group.onBarrier((label, timeout) -> {
			assertThat(timeout).isEqualTo(Duration.ofSeconds(30));
			return new BarrierOutcome(BarrierOutcome.Result.PASSED, label, 7, 3, 41, List.of(0L, 12L, 40L), List.of());
		});
		assertThat(post("{\"label\":\"epoch-3\",\"timeoutMs\":30000}")).hasStatusOk().bodyJson().isStrictlyEqualTo("""
				{"label":"epoch-3","round":7,"arrived":3,"waitedMs":41,"skewMs":[0,12,40]}""");
	}

	@Test
	void theTimeoutDefaultsToTheCollectiveTimeout() {
		AtomicReference<Duration> asked = new AtomicReference<>();
		this.group.onBarrier((label, timeout) -> {
			asked.set(timeout);
			return new BarrierOutcome(BarrierOutcome.Result.PASSED, label, 0, 3, 0, List.of(0L, 0L, 0L), List.of());
		});
		assertThat(post("{\"label\":\"x\"}")).hasStatusOk();
		assertThat(asked.get()).isEqualTo(Timeouts.DEFAULTS.collective());
	}

	@Test
	void anExpiredDeadlineNamesTheMissingRanks() {
		this.group.onBarrier((label, timeout) -> new BarrierOutcome(BarrierOutcome.Result.BROKEN, label, 2, 1, 500,
				List.of(-1L, 0L, -1L), List.of(0, 2)));
		assertThat(post("{\"label\":\"late\",\"timeoutMs\":500}")).hasStatus(HttpStatus.GATEWAY_TIMEOUT)
			.hasContentType(MediaType.APPLICATION_PROBLEM_JSON)
			.bodyJson()
			.isLenientlyEqualTo("""
					{"type":"urn:tutti:problem:collective-timeout","status":504,"rank":1,"worldSize":3,
					"generation":4,"collective":"barrier","label":"late","round":2,"arrived":1,
					"missingRanks":[0,2],"elapsedMs":500,"timeoutMs":500}""");
	}

	@Test
	void aLateRankIsToldWhichBarrierItMissed() {
		this.group.onBarrier((label, timeout) -> new BarrierOutcome(BarrierOutcome.Result.LATE, label, 2, 2, 0,
				List.of(0L, -1L, 3L), List.of(1)));
		assertThat(post("{\"label\":\"late\",\"timeoutMs\":500}")).hasStatus(HttpStatus.CONFLICT)
			.bodyJson()
			.isLenientlyEqualTo(
					"""
							{"type":"urn:tutti:problem:collective-timeout","status":409,"label":"late","round":2,
							"missingRanks":[1],"hint":"Call again: the next call of the label joins the next round; give the other ranks a longer timeoutMs if this rank is often late"}""");
	}

	@Test
	void aGroupThatBreaksDuringABarrierIsUnavailable() {
		Failure lost = Failure.outside(Failure.Kind.PEER_LOST, Failure.WORLD, List.of(2), "its connection closed");
		FakeGroup meanwhile = this.group;
		meanwhile.onBarrier((label, timeout) -> {
			throw CollectiveException.of(1, 4, lost, null);
		});
		assertThat(post("{\"label\":\"x\",\"round\":3,\"timeoutMs\":500}")).hasStatus(HttpStatus.SERVICE_UNAVAILABLE)
			.bodyJson()
			.isLenientlyEqualTo("""
					{"type":"urn:tutti:problem:peer-lost","generation":4,"collective":"barrier","label":"x","round":3,
					"missingRanks":[2],"timeoutMs":500}""")
			.extractingPath("$.elapsedMs")
			.isNotNull();
	}

	@Test
	void theRankThatAbortedAGroupIsNotMissing() {
		this.group.onBarrier((label, timeout) -> {
			throw CollectiveException.of(1, 3,
					Failure.outside(Failure.Kind.ABORTED, Failure.WORLD, List.of(2), "rank 2 aborted: wrong data"),
					null);
		});
		assertThat(post("{\"label\":\"x\"}")).hasStatus(HttpStatus.SERVICE_UNAVAILABLE)
			.bodyText()
			.contains("rank 2 aborted: wrong data")
			.doesNotContain("missingRanks");
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			{}                                     | label must have
			{"label":null}                         | label must have
			{"label":"  "}                         | label must have
			{"label":"\\ud800x"}                  | label must be text; it has half of a surrogate pair
			{"label":"x","timeoutMs":0}            | 1..86400000, got 0
			{"label":"x","timeoutMs":-5}           | 1..86400000, got -5
			{"label":"x","timeoutMs":86400001}     | got 86400001
			{"label":"x","round":-1}               | round must be in 0..9007199254740991, got -1
			{"label":"x","round":"7"}              | round has a value of the wrong type
			{"label":"x","timeoutMs":"30"}         | timeoutMs has a value of the wrong type
			{"label":"x","timeoutMs":1.5}          | timeoutMs has a value of the wrong type
			{"label":"x","timeoutMs":1e99}         | timeoutMs has a value of the wrong type
			{"label":"x","timeoutMs":99999999999999999999} | field timeoutMs is out of range
			{"label":5}                            | label has a value of the wrong type
			{"label":["x"]}                        | label has a value of the wrong type
			{"label":"x","timeout":5}              | unknown field timeout
			{"label":"x"} {}                       | the body is not a JSON object
			[1,2]                                  | the body is not a JSON object
			""")
	void anInvalidArgumentIsRefusedByName(String body, String detail) {
		assertThat(post(body)).hasStatus(HttpStatus.UNPROCESSABLE_CONTENT)
			.hasContentType(MediaType.APPLICATION_PROBLEM_JSON)
			.bodyJson()
			.satisfies((json) -> {
				json.assertThat().extractingPath("$.type").isEqualTo("urn:tutti:problem:invalid-argument");
				json.assertThat().extractingPath("$.detail").asString().contains(detail);
			});
	}

	@Test
	void aLabelMayHave256CharactersAndNoMore() {
		this.group.onBarrier((label, timeout) -> new BarrierOutcome(BarrierOutcome.Result.PASSED, label, 0, 3, 0,
				List.of(0L, 0L, 0L), List.of()));
		assertThat(post("{\"label\":\"" + "x".repeat(256) + "\"}")).hasStatusOk();
		assertThat(post("{\"label\":\"" + "x".repeat(257) + "\"}")).hasStatus(HttpStatus.UNPROCESSABLE_CONTENT);
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|',
			textBlock = """
					''                                              | the body is missing
					{"label"                                        | the body is not valid JSON, or repeats a field, at line 1, column
					not json                                        | the body is not valid JSON, or repeats a field, at line 1, column
					{"label":"x","label":"y"}                       | the body is not valid JSON, or repeats a field, at line 1, column
					{"label":"x","timeoutMs":NaN}                   | the body is not valid JSON, or repeats a field, at line 1, column
					""")
	void malformedJsonIsABadRequestWithItsMistake(String body, String detail) {
		assertThat(post(body)).hasStatus(HttpStatus.BAD_REQUEST)
			.hasContentType(MediaType.APPLICATION_PROBLEM_JSON)
			.bodyText()
			.contains(detail);
	}

	@Test
	void aLongNumberIsOutOfRange() {
		assertThat(post("{\"label\":\"x\",\"round\":" + "1".repeat(2000) + "}"))
			.hasStatus(HttpStatus.UNPROCESSABLE_CONTENT)
			.bodyText()
			.contains("field round is out of range");
	}

	@Test
	void aBodyThatIsNotTextIsABadRequest() {
		assertThat(this.http.post()
			.uri("/api/v1/barrier")
			.contentType(MediaType.APPLICATION_JSON)
			.content(new byte[] { '{', '"', (byte) 0xff, (byte) 0xfe, '"', '}' })).hasStatus(HttpStatus.BAD_REQUEST);
	}

	@Test
	void aHugeBodyIsTooLarge() {
		assertThat(post("{\"label\":\"" + "x".repeat(1_000_000) + "\"}")).hasStatus(HttpStatus.CONTENT_TOO_LARGE);
	}

	@Test
	void onlyJsonIsAccepted() {
		assertThat(this.http.post().uri("/api/v1/barrier").contentType(MediaType.TEXT_PLAIN).content("x"))
			.hasStatus(HttpStatus.UNSUPPORTED_MEDIA_TYPE);
	}

	@Test
	void anUnexpectedExceptionLeaksNothing() {
		this.group.onBarrier((label, timeout) -> {
			throw new IllegalStateException("secret detail");
		});
		assertThat(post("{\"label\":\"x\"}")).hasStatus(HttpStatus.INTERNAL_SERVER_ERROR)
			.bodyText()
			.doesNotContain("secret", "IllegalState", "\tat ");
	}

	private MvcTestResult post(String body) {
		return this.http.post().uri("/api/v1/barrier").contentType(MediaType.APPLICATION_JSON).content(body).exchange();
	}

}
