package io.tutti.service.rest;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import io.tutti.engine.backend.IdleBackend;
import io.tutti.engine.control.BarrierOutcome;
import io.tutti.engine.control.CallMatch;
import io.tutti.engine.spi.CallSignature;
import io.tutti.service.TuttiApplication;
import io.tutti.service.group.FakeGroup;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

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

/**
 * A repeated call on a rank whose memory holds one call and no more.
 */
@Timeout(60)
@SpringBootTest(classes = TuttiApplication.class,
		properties = { FormedRank.RANK, FormedRank.WORLD_SIZE, "tutti.http-collectives.max-bytes=1MB",
				"tutti.http-collectives.memory=2MB" })
@AutoConfigureMockMvc
@Import(FormedRank.class)
class RepeatedCallTest {

	/** Both calls do not fit in memory, so that the repeated one waits for so long. */
	private static final int MEMORY_WAIT_MILLIS = 3000;

	/** The tests share the group, whose calls are numbered. */
	private static final AtomicInteger ORDER = new AtomicInteger();

	@Autowired
	private MockMvcTester http;

	@Autowired
	private FakeGroup group;

	private final AtomicInteger matched = new AtomicInteger();

	@Test
	void aRepeatedCallOfTheLargestSizeGetsTheSameAnswer() {
		this.group.onMatch(this::match);
		this.group.onBeside(new IdleBackend("tcp"));
		byte[] elements = elements(3);
		assertThat(allReduce(7, elements).getResponse().getContentAsByteArray()).isEqualTo(elements);
		for (int repeat = 0; repeat < 2; repeat++) {
			assertThat(allReduce(7, elements)).hasStatusOk();
			assertThat(allReduce(7, elements).getResponse().getContentAsByteArray()).isEqualTo(elements);
			assertThat(allReduce(7, elements(4))).hasStatus(HttpStatus.CONFLICT)
				.bodyText()
				.contains("other parameters or another body");
		}
		assertThat(allReduce(7, new byte[(1 << 20) + 4])).hasStatus(HttpStatus.CONTENT_TOO_LARGE);
		assertThat(this.matched).hasValue(1);
		assertThat(allReduce(8, elements(5))).as("the next round, which needs the memory of the last one")
			.hasStatusOk();
		assertThat(allReduce(7, elements)).hasStatus(HttpStatus.CONFLICT).bodyText().contains("is over");
	}

	@Test
	void aCallThatIsRepeatedWhileItRunsGetsTheSameAnswer() throws Exception {
		CountDownLatch run = new CountDownLatch(1);
		this.group.onMatch((label, call) -> {
			awaitLatch(run);
			return match(label, call);
		});
		this.group.onBeside(new IdleBackend("tcp"));
		byte[] elements = elements(6);
		FutureTask<MvcTestResult> first = new FutureTask<>(() -> allReduce("repeated", 7, elements));
		Thread firstThread = Thread.ofPlatform().start(first);
		Awaitility.await().until(() -> firstThread.getState() == Thread.State.TIMED_WAITING);
		FutureTask<MvcTestResult> repeat = new FutureTask<>(
				() -> allReduce("repeated&timeoutMs=" + MEMORY_WAIT_MILLIS, 7, elements));
		Thread repeatThread = Thread.ofPlatform().start(repeat);
		Awaitility.await().until(() -> repeatThread.getState() == Thread.State.TIMED_WAITING);
		run.countDown();
		assertThat(first.get(30, TimeUnit.SECONDS).getResponse().getContentAsByteArray()).isEqualTo(elements);
		assertThat(repeat.get(30, TimeUnit.SECONDS)).hasStatusOk();
		assertThat(repeat.get().getResponse().getContentAsByteArray()).isEqualTo(elements);
		assertThat(this.matched).hasValue(1);
	}

	private CallMatch match(String label, CallSignature call) {
		this.matched.incrementAndGet();
		return new CallMatch(
				new BarrierOutcome(BarrierOutcome.Result.PASSED, label, 7, 3, 0, List.of(0L, 0L, 0L), List.of()),
				ORDER.getAndIncrement(), List.of(new CallMatch.Announced(1, call)));
	}

	private static void awaitLatch(CountDownLatch latch) {
		try {
			assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static byte[] elements(int value) {
		byte[] elements = new byte[1 << 20];
		Arrays.fill(elements, (byte) value);
		return elements;
	}

	private MvcTestResult allReduce(long round, byte[] elements) {
		return allReduce("grads", round, elements);
	}

	private MvcTestResult allReduce(String label, long round, byte[] elements) {
		return this.http.post()
			.uri("/api/v1/collectives/all-reduce?round=" + round + "&label=" + label)
			.contentType(MediaType.APPLICATION_OCTET_STREAM)
			.header(HttpHeaders.CONTENT_LENGTH, elements.length)
			.content(elements)
			.exchange();
	}

}
