package io.tutti.service.rest;

import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import io.tutti.CollectiveException;
import io.tutti.Failure;
import io.tutti.OwnThread;
import io.tutti.engine.control.BarrierOutcome;
import io.tutti.engine.control.CallMatch;
import io.tutti.engine.spi.GroupBackend;
import io.tutti.engine.spi.Call;
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
 * A collective over HTTP after every rank has arrived, while its data is in transfer.
 */
@Timeout(60)
@SpringBootTest(classes = TuttiApplication.class,
		properties = { FormedRank.RANK, FormedRank.WORLD_SIZE, "tutti.http-collectives.max-bytes=1MB" })
@AutoConfigureMockMvc
@Import(FormedRank.class)
class HttpCollectivesTest {

	@Autowired
	private MockMvcTester http;

	@Autowired
	private FakeGroup group;

	/** A single test, since the group is broken at its end. */
	@Test
	void aLongCollectiveDelaysNoProbeAndARankLostDuringItIsNamed() throws Exception {
		CountDownLatch underWay = new CountDownLatch(1);
		CountDownLatch lost = new CountDownLatch(1);
		this.group.onMatch((label, call) -> new CallMatch(
				new BarrierOutcome(BarrierOutcome.Result.PASSED, label, 0, 3, 0, List.of(0L, 0L, 0L), List.of()), 0,
				List.of(new CallMatch.Announced(0, call))));
		this.group.onBeside(new StuckBackend(underWay, lost));
		CompletableFuture<MvcTestResult> answer = CompletableFuture.supplyAsync(this::allReduce, OwnThread.EXECUTOR);
		assertThat(underWay.await(20, TimeUnit.SECONDS)).isTrue();
		for (String probe : List.of("liveness", "readiness")) {
			assertThat(this.http.get().uri("/actuator/health/" + probe)).hasStatusOk();
		}
		assertThat(answer).isNotDone();
		lost.countDown();
		assertThat(answer.get(20, TimeUnit.SECONDS)).hasStatus(HttpStatus.SERVICE_UNAVAILABLE)
			.hasContentType(MediaType.APPLICATION_PROBLEM_JSON)
			.bodyJson()
			.isLenientlyEqualTo("""
					{"type":"urn:tutti:problem:peer-lost","status":503,"rank":1,"worldSize":3,"missingRanks":[2],
					"generation":4,"collective":"all-reduce","label":"grads"}""");
		assertThat(this.http.get().uri("/actuator/health/liveness")).hasStatusOk();
		assertThat(this.http.get().uri("/actuator/health/readiness")).hasStatus(HttpStatus.SERVICE_UNAVAILABLE)
			.bodyText()
			.contains("\"lostRanks\":[2]");
	}

	/** Otherwise only the root would detect it, after the other ranks had started. */
	@Test
	void aGatherTooLargeForItsRootIsRefusedByEveryRankBeforeMatching() {
		assertThat(this.http.post()
			.uri("/api/v1/collectives/gather?root=0")
			.contentType(MediaType.APPLICATION_OCTET_STREAM)
			.content(new byte[400 << 10])
			.exchange()).hasStatus(HttpStatus.CONTENT_TOO_LARGE)
			.bodyText()
			.contains("a response would have 1228800 bytes");
	}

	private MvcTestResult allReduce() {
		return this.http.post()
			.uri("/api/v1/collectives/all-reduce?label=grads")
			.contentType(MediaType.APPLICATION_OCTET_STREAM)
			.content(new byte[8])
			.exchange();
	}

	/** Transfers nothing until it is notified that a rank is lost. */
	private record StuckBackend(CountDownLatch underWay, CountDownLatch lost) implements GroupBackend {

		@Override
		public String name() {
			return "tcp";
		}

		@Override
		public String transport() {
			return "tcp";
		}

		@Override
		public void run(Call call) {
			this.underWay.countDown();
			try {
				assertThat(this.lost.await(30, TimeUnit.SECONDS)).isTrue();
			}
			catch (InterruptedException ex) {
				Thread.currentThread().interrupt();
			}
			throw CollectiveException.of(1, 4,
					Failure.outside(Failure.Kind.PEER_LOST, Failure.WORLD, List.of(2), "its connection closed"), null);
		}

		@Override
		public void wake() {
		}

		@Override
		public void close() {
		}

	}

}
