package io.tutti.service.rest;

import io.tutti.CollectiveListener;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.service.group.FakeJoiner;
import io.tutti.service.group.GroupLifecycle;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;
import org.springframework.web.context.request.ServletWebRequest;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(20)
class ProblemAdviceTest {

	private final ProblemAdvice advice = new ProblemAdvice(
			new ProblemFactory(new GroupLifecycle(RankAssignment.onOneHost(1, 3, 29500), EngineSettings.DEFAULTS,
					new FakeJoiner(), CollectiveListener.NONE)));

	/** As of a named round, while another thread writes its response. */
	@Test
	void requestsThatFailWithOneExceptionShareNoProblem() {
		ProblemException shared = ProblemException.roundConflict("round 4 is over").member("calls", "none");
		ProblemDetail first = respond(shared);
		assertThat(first.getProperties()).containsEntry("rank", 1).containsEntry("calls", "none");
		assertThat(respond(shared)).isNotSameAs(first).isEqualTo(first);
		assertThat(shared.getBody().getProperties()).doesNotContainKey("rank");
	}

	private ProblemDetail respond(ProblemException problem) {
		ResponseEntity<Object> response = this.advice.respond(problem,
				new ServletWebRequest(new MockHttpServletRequest(), new MockHttpServletResponse()));
		assertThat(response).isNotNull();
		return (ProblemDetail) response.getBody();
	}

}
