package io.tutti.service.rest;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.http.HttpStatus;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.mock.web.MockHttpServletResponse;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@Timeout(20)
class RecorderGateTest {

	private final MockHttpServletRequest request = new MockHttpServletRequest();

	private final MockHttpServletResponse response = new MockHttpServletResponse();

	@Test
	void aRequestBeyondTheLimitIsRefusedUntilAnotherCompletes() throws Exception {
		RecorderGate gate = new RecorderGate(2, Duration.ofMillis(20), Duration.ofMinutes(1), (_) -> null);
		assertThat(gate.preHandle(this.request, this.response, this)).isTrue();
		assertThat(gate.preHandle(this.request, this.response, this)).isTrue();
		assertThatExceptionOfType(ProblemException.class)
			.isThrownBy(() -> gate.preHandle(this.request, this.response, this))
			.satisfies((ex) -> assertThat(ex.getStatusCode()).isEqualTo(HttpStatus.SERVICE_UNAVAILABLE))
			.satisfies((ex) -> assertThat(ex.getHeaders().toSingleValueMap()).containsEntry("Retry-After", "5"))
			.withMessageContaining("at most 2");
		gate.afterCompletion(this.request, this.response, this, null);
		assertThat(gate.preHandle(this.request, this.response, this)).isTrue();
	}

	@Test
	void aClientThatReadsTooSlowlyIsDisconnected() throws Exception {
		CountDownLatch closed = new CountDownLatch(1);
		RecorderGate gate = new RecorderGate(1, Duration.ofMillis(20), Duration.ofMillis(20), (_) -> closed::countDown);
		assertThat(gate.preHandle(this.request, this.response, this)).isTrue();
		assertThat(closed.await(10, TimeUnit.SECONDS)).isTrue();
		gate.afterCompletion(this.request, this.response, this, null);
		assertThat(gate.preHandle(this.request, this.response, this)).isTrue();
	}

}
