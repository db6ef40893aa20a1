package io.tutti.service.rest;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.tutti.CollectiveException;
import io.tutti.Failure;
import io.tutti.OwnThread;
import io.tutti.engine.control.BarrierOutcome;
import io.tutti.engine.control.CallMatch;
import io.tutti.service.TuttiApplication;
import io.tutti.service.group.FakeGroup;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Collectives over HTTP whose own group could not be formed for the first call.
 */
@Timeout(60)
@SpringBootTest(classes = TuttiApplication.class,
		properties = { FormedRank.RANK, FormedRank.WORLD_SIZE, "tutti.http-collectives.max-bytes=3MB" })
@AutoConfigureMockMvc
@Import(FormedRank.class)
@DirtiesContext(classMode = DirtiesContext.ClassMode.AFTER_EACH_TEST_METHOD)
class UnformedCallsTest {

	@Autowired
	private MockMvcTester http;

	@Autowired
	private FakeGroup group;

	private final AtomicInteger matched = new AtomicInteger();

	@BeforeEach
	void countTheCallsThatAreMatched() {
		this.group.onMatch((label, call) -> new CallMatch(
				new BarrierOutcome(BarrierOutcome.Result.PASSED, label, 0, 3, 0, List.of(0L, 0L, 0L), List.of()),
				this.matched.getAndIncrement(), List.of(new CallMatch.Announced(0, call))));
	}

	@Test
	void laterCallsFailWithoutAnotherGroupOfTheSameName() throws Exception {
		this.group.onForming(() -> {
			throw CollectiveException.of(1, 3, Failure.outside(Failure.Kind.ABORTED, "http", List.of(2), "no memory"),
					null);
		});
		for (int call = 0; call < 2; call++) {
			assertThat(CompletableFuture.supplyAsync(this::allReduce, OwnThread.EXECUTOR).get(20, TimeUnit.SECONDS))
				.hasStatus(HttpStatus.SERVICE_UNAVAILABLE)
				.bodyText()
				.contains("rank 2", "no memory");
		}
		assertThat(this.matched).hasValue(1);
	}

	@Test
	void laterCallsFailAfterAnErrorToo() throws Exception {
		this.group.onForming(() -> {
			throw new OutOfMemoryError("made to fail");
		});
		for (int call = 0; call < 2; call++) {
			assertThat(CompletableFuture.supplyAsync(this::allReduce, OwnThread.EXECUTOR).get(20, TimeUnit.SECONDS))
				.hasStatus(HttpStatus.INTERNAL_SERVER_ERROR);
		}
		assertThat(this.matched).hasValue(1);
	}

	private MvcTestResult allReduce() {
		return this.http.post()
			.uri("/api/v1/collectives/all-reduce")
			.contentType(MediaType.APPLICATION_OCTET_STREAM)
			.content(new byte[8])
			.exchange();
	}

}
