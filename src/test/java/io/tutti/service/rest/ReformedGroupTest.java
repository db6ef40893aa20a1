package io.tutti.service.rest;

import java.util.List;

import io.tutti.engine.control.BarrierOutcome;
import io.tutti.engine.control.CallMatch;
import io.tutti.service.TuttiApplication;
import io.tutti.service.group.FakeGroup;
import io.tutti.service.group.FakeJoiner;
import io.tutti.service.group.GroupJoiner;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Primary;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A collective over HTTP in a group whose ranks are not those of the launcher, as after
 * an elastic group has formed again.
 */
@Timeout(60)
@SpringBootTest(classes = TuttiApplication.class, properties = { FormedRank.RANK, FormedRank.WORLD_SIZE })
@AutoConfigureMockMvc
@Import(ReformedGroupTest.Reformed.class)
class ReformedGroupTest {

	@TestConfiguration
	static class Reformed {

		@Bean
		FakeGroup fakeGroup() {
			return new FakeGroup(0, 2, 5);
		}

		@Bean
		@Primary
		GroupJoiner fakeMeeting(FakeGroup group) {
			return FakeJoiner.of(group);
		}

	}

	@Autowired
	private MockMvcTester http;

	@Autowired
	private FakeGroup group;

	@Test
	void aCallReachesTheRanksOfTheCurrentGeneration() {
		this.group.onMatch((label, call) -> CallMatch
			.none(new BarrierOutcome(BarrierOutcome.Result.BROKEN, label, 0, 1, 5, List.of(0L, -1L), List.of(1))));
		assertThat(call("all-reduce")).hasStatus(HttpStatus.GATEWAY_TIMEOUT)
			.bodyText()
			.contains("\"missingRanks\":[1]");
	}

	@Test
	void theRootIsComparedWithTheCurrentWorldSize() {
		assertThat(call("broadcast?root=2")).hasStatus(HttpStatus.UNPROCESSABLE_CONTENT)
			.bodyText()
			.contains("root must be in 0..1, got 2");
	}

	private MvcTestResult call(String call) {
		return this.http.post()
			.uri("/api/v1/collectives/" + call)
			.contentType(MediaType.APPLICATION_OCTET_STREAM)
			.content(new byte[8])
			.exchange();
	}

}
