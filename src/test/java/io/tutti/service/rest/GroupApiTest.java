package io.tutti.service.rest;

import io.tutti.service.TuttiApplication;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(60)
@SpringBootTest(classes = TuttiApplication.class, properties = { FormedRank.RANK, FormedRank.WORLD_SIZE })
@AutoConfigureMockMvc
@Import(FormedRank.class)
class GroupApiTest {

	@Autowired
	private MockMvcTester http;

	@Test
	void theGroupShowsItsRankAndState() {
		assertThat(this.http.get().uri("/api/v1/group")).hasStatusOk().bodyJson().isStrictlyEqualTo("""
				{"state":"READY","rank":1,"worldSize":3,"localRank":1,"localWorldSize":3,"backend":"tcp",
				"generation":4,"peers":{"up":1,"unknown":0,"left":0,"lost":1,"medianRoundTripMicros":250,
				"maxRoundTripMicros":250,"slowestRank":0,"maxSilenceMs":12}}""");
	}

	@Test
	void eachPeerIsShownWithItsState() {
		assertThat(this.http.get().uri("/api/v1/group/peers")).hasStatusOk().bodyJson().isStrictlyEqualTo("""
				[{"rank":0,"state":"UP","address":"10.0.0.1:41000","transport":"tcp","lastSeenMs":12,
				"roundTripMicros":250},
				{"rank":2,"state":"LOST","address":"[fd00::2]:42000","transport":"tcp"}]""");
	}

	@Test
	void theActuatorShowsTheRankAsTheEnvCommandDoes() {
		assertThat(this.http.get().uri("/actuator/rank")).hasStatusOk().bodyJson().isLenientlyEqualTo("""
				{"rank":1,"worldSize":3,"localRank":1,"localWorldSize":3,"masterAddress":"127.0.0.1",
				"masterPort":29500,"source":"properties"}""");
	}

	@Test
	void theActuatorNamesTheBackendAndTheAvailabilityOfAll() {
		assertThat(this.http.get().uri("/actuator/info")).hasStatusOk().bodyJson().isLenientlyEqualTo("""
				{"tutti":{"backend":"tcp","rank":1,"worldSize":3,
				"backends":{"tcp":{"available":true},"mpi":{"available":true}}}}""");
		assertThat(this.http.get().uri("/actuator/info")).bodyJson()
			.extractingPath("$.tutti.backends.nccl.reason")
			.asString()
			.isNotBlank();
	}

	@Test
	void theActuatorExposesOnlyListedEndpoints() {
		for (String endpoint : new String[] { "env", "configprops", "beans", "heapdump", "threaddump", "loggers" }) {
			assertThat(this.http.get().uri("/actuator/" + endpoint)).hasStatus(HttpStatus.NOT_FOUND);
		}
	}

	@Test
	void anUnknownPathOrMethodIsAProblem() {
		assertThat(this.http.get().uri("/api/v1/nothing")).hasStatus(HttpStatus.NOT_FOUND)
			.hasContentType(MediaType.APPLICATION_PROBLEM_JSON);
		assertThat(this.http.delete().uri("/api/v1/group")).hasStatus(HttpStatus.METHOD_NOT_ALLOWED)
			.hasContentType(MediaType.APPLICATION_PROBLEM_JSON);
	}

}
