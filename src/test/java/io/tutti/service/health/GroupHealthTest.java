package io.tutti.service.health;

import java.util.List;
import java.util.concurrent.TimeUnit;

import io.tutti.Failure;
import io.tutti.engine.control.PeerStatus;
import io.tutti.service.TuttiApplication;
import io.tutti.service.group.FakeGroup;
import io.tutti.service.group.FakeJoiner;
import io.tutti.service.group.GroupLifecycle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Primary;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(60)
@SpringBootTest(classes = { TuttiApplication.class, GroupHealthTest.Meeting.class },
		properties = { "tutti.rank=0", "tutti.world-size=3" })
@AutoConfigureMockMvc
@DirtiesContext
class GroupHealthTest {

	@Autowired
	private MockMvcTester http;

	@Autowired
	private FakeJoiner joiner;

	@Autowired
	private GroupLifecycle lifecycle;

	@Test
	void readinessFollowsTheGroupAndLivenessDoesNot() throws Exception {
		assertReadiness(HttpStatus.SERVICE_UNAVAILABLE, "FORMING");
		assertUnavailable("urn:tutti:problem:group-not-formed", "FORMING");
		assertThat(this.http.get().uri("/api/v1/group/peers")).hasStatus(HttpStatus.SERVICE_UNAVAILABLE);
		assertAlive();

		FakeGroup group = new FakeGroup(0, 3, 0);
		this.joiner.joined(group);
		this.lifecycle.formed().get(10, TimeUnit.SECONDS);
		assertReadiness(HttpStatus.OK, "READY");
		assertAlive();

		group.addPeer(new PeerStatus(1, "127.0.0.1", 7000, 0, 100, PeerStatus.State.LEFT));
		assertReadiness(HttpStatus.SERVICE_UNAVAILABLE, "READY");
		assertThat(this.http.get().uri("/actuator/health/readiness")).bodyJson().isLenientlyEqualTo("""
				{"components":{"group":{"details":{"leftRanks":[1],
				"problem":"rank 1 has left; no collective can run without it"}}}}""");
		assertThat(this.http.get().uri("/api/v1/group")).hasStatusOk().bodyJson().isLenientlyEqualTo("""
				{"state":"READY","problem":"rank 1 has left; no collective can run without it"}""");
		assertAlive();

		this.joiner.broken(Failure.outside(Failure.Kind.PEER_LOST, Failure.WORLD, List.of(2), "its connection closed"));
		assertReadiness(HttpStatus.SERVICE_UNAVAILABLE, "BROKEN");
		assertThat(this.http.get().uri("/actuator/health/readiness")).bodyJson().isLenientlyEqualTo("""
				{"components":{"group":{"details":{"lostRanks":[2]}}}}""");
		assertThat(this.http.get().uri("/api/v1/group")).hasStatusOk().bodyJson().isLenientlyEqualTo("""
				{"state":"BROKEN","lostRanks":[2]}""");
		assertThat(this.http.get().uri("/api/v1/group/peers")).hasStatusOk();
		assertUnavailable("urn:tutti:problem:peer-lost", "BROKEN");
		assertAlive();

		this.lifecycle.stop();
		assertUnavailable("urn:tutti:problem:group-not-formed", "CLOSED");
		assertThat(barrier()).bodyText().contains("Start the job again").doesNotContain("readiness");
	}

	private void assertReadiness(HttpStatus status, String state) {
		assertThat(this.http.get().uri("/actuator/health/readiness")).hasStatus(status)
			.bodyJson()
			.extractingPath("$.components.group.details.state")
			.isEqualTo(state);
	}

	private void assertAlive() {
		assertThat(this.http.get().uri("/actuator/health/liveness")).hasStatusOk();
	}

	private void assertUnavailable(String type, String state) {
		assertThat(barrier()).hasStatus(HttpStatus.SERVICE_UNAVAILABLE)
			.hasContentType(MediaType.APPLICATION_PROBLEM_JSON)
			.bodyJson()
			.isLenientlyEqualTo("{\"type\":\"" + type + "\",\"state\":\"" + state + "\",\"rank\":0,\"worldSize\":3}");
	}

	private MvcTestResult barrier() {
		return this.http.post()
			.uri("/api/v1/barrier")
			.contentType(MediaType.APPLICATION_JSON)
			.content("{\"label\":\"x\"}")
			.exchange();
	}

	@TestConfiguration
	static class Meeting {

		@Bean
		@Primary
		FakeJoiner fakeJoiner() {
			return new FakeJoiner();
		}

	}

}
