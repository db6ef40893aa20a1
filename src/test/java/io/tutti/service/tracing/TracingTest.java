package io.tutti.service.tracing;

import java.util.Collection;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.sdk.common.CompletableResultCode;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.opentelemetry.sdk.trace.export.SpanExporter;
import io.tutti.ReduceOp;
import io.tutti.engine.dispatch.DefaultProcessGroup;
import io.tutti.service.TuttiApplication;
import io.tutti.service.group.GroupLifecycle;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.TestConfiguration;
import org.springframework.boot.webmvc.test.autoconfigure.AutoConfigureMockMvc;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.test.web.servlet.assertj.MockMvcTester;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(60)
@SpringBootTest(classes = TuttiApplication.class,
		properties = { "tutti.rank=0", "tutti.world-size=1", "management.tracing.sampling.probability=1.0" })
@AutoConfigureMockMvc
@Import(TracingTest.Collected.class)
class TracingTest {

	private static final String TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";

	@Autowired
	private MockMvcTester http;

	@Autowired
	private GroupLifecycle group;

	@Autowired
	private Collected collected;

	@Autowired
	private CollectiveTracing tracing;

	@Test
	void aCollectiveIsASpanWithDerivedIds() {
		DefaultProcessGroup world = this.group.formed().orTimeout(30, TimeUnit.SECONDS).join().world();
		world.allReduce(new float[] { 1, 2 }, ReduceOp.SUM);
		long sequence = world.recorder().latest(1).getFirst().call().sequence();
		CallTrace trace = CallTrace.of(this.group.requireJoined().runId(), "world", sequence);
		SpanData span = Awaitility.await()
			.atMost(20, TimeUnit.SECONDS)
			.until(() -> this.collected.named("all-reduce"), (found) -> found != null);
		assertThat(span.getTraceId()).isEqualTo(trace.traceId());
		assertThat(span.getSpanId()).isEqualTo(trace.spanId(0));
		assertThat(span.getParentSpanContext().isValid()).isFalse();
		assertThat(span.getAttributes().get(AttributeKey.longKey("tutti.sequence"))).isEqualTo(sequence);
		assertThat(span.getAttributes().get(AttributeKey.longKey("tutti.bytes"))).isEqualTo(8);
		assertThat(span.getEndEpochNanos()).isGreaterThan(span.getStartEpochNanos());
	}

	/** As at the end of a training job, which comes within a second of its last call. */
	@Test
	void aStopExportsWhatHasEndedSinceTheLastCollection() {
		DefaultProcessGroup world = this.group.formed().orTimeout(30, TimeUnit.SECONDS).join().world();
		world.broadcast(new float[] { 1, 2 }, 0);
		this.tracing.stop();
		try {
			assertThat(this.collected.named("broadcast")).isNotNull();
		}
		finally {
			this.tracing.start();
		}
	}

	@Test
	void aRequestJoinsTheTraceOfItsCaller() {
		assertThat(this.http.get().uri("/api/v1/group").header("traceparent", "00-" + TRACE + "-00f067aa0ba902b7-01"))
			.hasStatusOk();
		SpanData span = Awaitility.await()
			.atMost(20, TimeUnit.SECONDS)
			.until(() -> this.collected.named("http get /api/v1/group"), (found) -> found != null);
		assertThat(span.getTraceId()).isEqualTo(TRACE);
		assertThat(span.getParentSpanId()).isEqualTo("00f067aa0ba902b7");
	}

	/** Such a request lasts as long as the page is open, and its end is no error. */
	@Test
	void theEventsOfTheLivePageAreNotTraced() {
		assertThat(this.http.head().uri("/page/events")).hasStatusOk();
		assertThat(this.http.get().uri("/page/page.css")).hasStatusOk();
		Awaitility.await()
			.atMost(20, TimeUnit.SECONDS)
			.until(() -> this.collected.named("http get /page/page.css") != null);
		assertThat(this.collected.named("http head /page/events")).isNull();
	}

	@Test
	void ranksDeriveTheSameTraceIdAndDistinctSpanIds() {
		CallTrace trace = CallTrace.of("run", "world", 17);
		assertThat(CallTrace.of("run", "world", 17)).isEqualTo(trace);
		assertThat(List.of(CallTrace.of("run", "world", 18), CallTrace.of("run", "world/0.1", 17),
				CallTrace.of("other", "world", 17)))
			.doesNotContain(trace)
			.doesNotHaveDuplicates();
		assertThat(IntStream.range(0, 1000).mapToObj(trace::spanId)).doesNotHaveDuplicates()
			.allMatch((id) -> id.matches("[0-9a-f]{16}"));
		assertThat(trace.traceId()).matches("[0-9a-f]{32}");
	}

	@Test
	void theConfiguredShareOfTracesIsSampled() {
		assertThat(IntStream.range(0, 10_000).filter((i) -> CallTrace.of("run", "world", i).isKept(0.1)).count())
			.isBetween(850L, 1150L);
		assertThat(CallTrace.of("run", "world", 1).isKept(1)).isTrue();
		assertThat(CallTrace.of("run", "world", 1).isKept(0)).isFalse();
	}

	@TestConfiguration
	static class Collected implements SpanExporter {

		private final List<SpanData> spans = new CopyOnWriteArrayList<>();

		@Bean
		SpanProcessor atOnce() {
			return SimpleSpanProcessor.create(this);
		}

		List<SpanData> spans() {
			return this.spans;
		}

		SpanData named(String name) {
			return this.spans.stream().filter((span) -> span.getName().equals(name)).findFirst().orElse(null);
		}

		@Override
		public CompletableResultCode export(Collection<SpanData> exported) {
			this.spans.addAll(exported);
			return CompletableResultCode.ofSuccess();
		}

		@Override
		public CompletableResultCode flush() {
			return CompletableResultCode.ofSuccess();
		}

		@Override
		public CompletableResultCode shutdown() {
			return CompletableResultCode.ofSuccess();
		}

	}

}
