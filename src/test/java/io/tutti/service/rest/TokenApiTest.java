package io.tutti.service.rest;

import java.util.List;

import io.tutti.engine.control.BarrierOutcome;
import io.tutti.service.TuttiApplication;
import io.tutti.service.group.FakeGroup;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(60)
@SpringBootTest(classes = TuttiApplication.class,
		properties = { FormedRank.RANK, FormedRank.WORLD_SIZE, "tutti.security.token=open sesame" })
@AutoConfigureMockMvc
@Import(FormedRank.class)
class TokenApiTest {

	@Autowired
	private MockMvcTester http;

	@Autowired
	private FakeGroup group;

	@Test
	void aStateChangingRequestNeedsTheToken() {
		MvcTestResult refused = barrier(null);
		assertThat(refused).hasStatus(HttpStatus.UNAUTHORIZED)
			.hasContentType(MediaType.APPLICATION_PROBLEM_JSON)
			.containsHeader(HttpHeaders.WWW_AUTHENTICATE)
			.bodyJson()
			.extractingPath("$.type")
			.isEqualTo("urn:tutti:problem:auth-failed");
	}

	@ParameterizedTest
	@CsvSource({ "Bearer open sesam,403", "Bearer open sesamee,403", "Bearer,401", "Basic open sesame,401",
			"open sesame,401" })
	void aWrongTokenIsRefused(String header, int status) {
		assertThat(barrier(header)).hasStatus(status).bodyText().doesNotContain("sesam");
	}

	@Test
	void theTokenGivesAccess() {
		this.group.onBarrier((label, timeout) -> new BarrierOutcome(BarrierOutcome.Result.PASSED, label, 0, 3, 0,
				List.of(0L, 0L, 0L), List.of()));
		assertThat(barrier("Bearer open sesame")).hasStatusOk();
		assertThat(barrier("bearer open sesame")).hasStatusOk();
	}

	@Test
	void theTokenGivesNoAccessToAPageOfAnotherOrigin() {
		assertThat(this.http.post()
			.uri("/api/v1/barrier")
			.contentType(MediaType.APPLICATION_JSON)
			.content("{\"label\":\"x\"}")
			.header(HttpHeaders.AUTHORIZATION, "Bearer open sesame")
			.header(HttpHeaders.ORIGIN, "http://evil.example")).hasStatus(HttpStatus.FORBIDDEN);
	}

	@Test
	void readsNeedNoToken() {
		assertThat(this.http.get().uri("/api/v1/group")).hasStatusOk();
		assertThat(this.http.get().uri("/actuator/health/readiness")).hasStatusOk();
	}

	private MvcTestResult barrier(String authorization) {
		MockMvcTester.MockMvcRequestBuilder request = this.http.post()
			.uri("/api/v1/barrier")
			.contentType(MediaType.APPLICATION_JSON)
			.content("{\"label\":\"x\"}");
		return ((authorization != null) ? request.header(HttpHeaders.AUTHORIZATION, authorization) : request)
			.exchange();
	}

}
