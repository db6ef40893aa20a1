package io.tutti.service.rest;

import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

import io.tutti.engine.control.BarrierOutcome;
import io.tutti.engine.control.CallMatch;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.GroupBackend;
import io.tutti.service.TuttiApplication;
import io.tutti.service.group.FakeGroup;
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

	@Autowired
	private MockMvcTester http;

	@Autowired
	private FakeGroup group;

	private final AtomicInteger matched = new AtomicInteger();

	@Test
	void aRepeatedCallOfTheLargestSizeGetsTheSameAnswer() {
		this.group.onMatch((label, call) -> new CallMatch(
				new BarrierOutcome(BarrierOutcome.Result.PASSED, label, 7, 3, 0, List.of(0L, 0L, 0L), List.of()),
				this.matched.getAndIncrement(), List.of(new CallMatch.Announced(1, call))));
		this.group.onBeside(new LocalBackend());
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

	private static byte[] elements(int value) {
		byte[] elements = new byte[1 << 20];
		Arrays.fill(elements, (byte) value);
		return elements;
	}

	private MvcTestResult allReduce(long round, byte[] elements) {
		return this.http.post()
			.uri("/api/v1/collectives/all-reduce?label=grads&round=" + round)
			.contentType(MediaType.APPLICATION_OCTET_STREAM)
			.header(HttpHeaders.CONTENT_LENGTH, elements.length)
			.content(elements)
			.exchange();
	}

	/** Leaves each buffer as it is. */
	private static final class LocalBackend implements GroupBackend {

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
		}

		@Override
		public void wake() {
		}

		@Override
		public void close() {
		}

	}

}
