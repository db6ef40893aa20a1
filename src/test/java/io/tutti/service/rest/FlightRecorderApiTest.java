package io.tutti.service.rest;

import java.util.concurrent.TimeUnit;

import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.service.TuttiApplication;
import io.tutti.service.group.GroupLifecycle;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A real group of one rank that has called collectives.
 */
@Timeout(60)
@SpringBootTest(classes = TuttiApplication.class,
		properties = { "tutti.rank=0", "tutti.world-size=1", "tutti.flight-recorder.sites=true" })
@AutoConfigureMockMvc
class FlightRecorderApiTest {

	@Autowired
	private MockMvcTester http;

	@Autowired
	private GroupLifecycle group;

	@BeforeEach
	void call() {
		ProcessGroup world = this.group.formed().orTimeout(30, TimeUnit.SECONDS).join().world();
		world.allReduce(new float[] { 1, 2, 3 }, ReduceOp.MAX);
		world.broadcast(new long[] { 1 }, 0);
	}

	@Test
	void anUnknownFormatIsNamedWithTheKnownOne() {
		assertThat(this.http.get().uri("/api/v1/flight-recorder?format=foo"))
			.hasStatus(HttpStatus.UNPROCESSABLE_CONTENT)
			.bodyText()
			.contains("format must be chrome-trace or omitted, got foo");
	}

	@Test
	void theLastCollectivesAreShownAsTheyWereCalled() {
		assertThat(this.http.get().uri("/api/v1/flight-recorder?limit=2")).hasStatusOk()
			.bodyJson()
			.isLenientlyEqualTo("""
					{"rank":0,"worldSize":1,"generation":0,"groups":[{"group":"world","members":[0],
					"calls":[{"collective":"all-reduce","count":3,"type":"float32","op":"max","bytes":12,"state":"DONE",
					"algorithm":"identity"},
					{"collective":"broadcast","count":1,"type":"int64","root":0,"bytes":8,"state":"DONE"}]}]}""");
	}

	@Test
	void theCallSiteIsShownIfEnabled() {
		assertThat(this.http.get().uri("/api/v1/flight-recorder?limit=1")).bodyJson()
			.extractingPath("$.groups[0].calls[0].site")
			.asString()
			.startsWith("FlightRecorderApiTest.call:");
	}

	@Test
	void aTimelineViewerGetsTheCallsOfEveryRank() {
		assertThat(this.http.get().uri("/api/v1/flight-recorder?format=chrome-trace&limit=1")).hasStatusOk()
			.bodyJson()
			.isLenientlyEqualTo("""
					{"displayTimeUnit":"ms","traceEvents":[{"ph":"M","name":"process_name","args":{"name":"rank 0"}},
					{"ph":"M","name":"process_sort_index"},{"ph":"M","name":"thread_name","args":{"name":"world"}},
					{"ph":"X","cat":"world","ts":0.0,"pid":0,"tid":0,"args":{"bytes":8,"state":"DONE"}}]}""");
	}

	@Test
	void theAnalysisDescribesTheStateOfTheGroup() {
		assertThat(this.http.get().uri("/api/v1/flight-recorder/analysis")).hasStatusOk()
			.bodyJson()
			.satisfies((json) -> {
				json.assertThat().extractingPath("$.verdict").asString().startsWith("group world is at #");
				json.assertThat().extractingPath("$.silentRanks").asArray().isEmpty();
				json.assertThat().extractingPath("$.findings[0].kind").isEqualTo("MOVING");
			});
	}

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			?limit=many                                  | limit must be a whole number, got many
			?limit=0x10                                  | limit must be a whole number, got 0x10
			?limit=                                      | limit must be a whole number
			?limit=99999999999                           | limit must be in 1..2000, got 99999999999
			?generation=-1                               | generation must be in 0..9223372036854775807, got -1
			?generation=99999999999999999999             | generation must be a whole number
			?format=chrome-trace&timeoutMs=1e3           | timeoutMs must be a whole number, got 1e3
			/analysis?timeoutMs=30001                    | timeoutMs must be in 1..30000, got 30001
			""")
	void aNumberIsReadAsThoseOfCollectives(String query, String detail) {
		assertThat(this.http.get().uri("/api/v1/flight-recorder" + query)).hasStatus(HttpStatus.UNPROCESSABLE_CONTENT)
			.bodyText()
			.contains(detail);
	}

	@Test
	void anOutOfRangeValueIsRefusedWithTheRange() {
		for (String query : new String[] { "limit=0", "limit=2001", "limit=-1" }) {
			assertThat(this.http.get().uri("/api/v1/flight-recorder?" + query))
				.hasStatus(HttpStatus.UNPROCESSABLE_CONTENT)
				.hasContentType(MediaType.APPLICATION_PROBLEM_JSON)
				.bodyText()
				.contains("limit must be in 1..2000");
		}
	}

}
