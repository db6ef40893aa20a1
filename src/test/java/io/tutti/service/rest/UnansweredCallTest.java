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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A collective over HTTP that rank 0 may have matched without an answer to this rank.
 */
@Timeout(60)
@SpringBootTest(classes = TuttiApplication.class,
		properties = { FormedRank.RANK, FormedRank.WORLD_SIZE, "tutti.http-collectives.max-bytes=2MB" })
@AutoConfigureMockMvc
@Import(FormedRank.class)
class UnansweredCallTest {

	@Autowired
	private MockMvcTester http;

	@Autowired
	private FakeGroup group;

	@Test
	void laterCallsFailInsteadOfWaitingForIt() throws Exception {
		this.group.onMatch((label, call) -> {
			throw CollectiveException.of(1, 3,
					Failure.outside(Failure.Kind.PEER_LOST, Failure.WORLD, List.of(0), "it did not answer"), null);
		});
		assertThat(allReduce()).hasStatus(HttpStatus.SERVICE_UNAVAILABLE);
		AtomicInteger matched = new AtomicInteger();
		this.group.onMatch((label, call) -> {
			matched.incrementAndGet();
			return new CallMatch(
					new BarrierOutcome(BarrierOutcome.Result.PASSED, label, 0, 3, 0, List.of(0L, 0L, 0L), List.of()), 1,
					List.of(new CallMatch.Announced(0, call)));
		});
		assertThat(CompletableFuture.supplyAsync(this::allReduce, OwnThread.EXECUTOR).get(20, TimeUnit.SECONDS))
			.hasStatus(HttpStatus.SERVICE_UNAVAILABLE)
			.bodyText()
			.contains("rank 0", "it did not answer");
		assertThat(matched).as("the other ranks would wait for this one").hasValue(0);
	}

	private MvcTestResult allReduce() {
		return this.http.post()
			.uri("/api/v1/collectives/all-reduce")
			.contentType(MediaType.APPLICATION_OCTET_STREAM)
			.content(new byte[8])
			.exchange();
	}

}
