package io.tutti.service.tracing;

import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.opentelemetry.api.common.AttributeKey;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.data.SpanData;
import io.opentelemetry.sdk.trace.export.SimpleSpanProcessor;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.IdleBackend;
import io.tutti.engine.diagnosis.RankTrace;
import io.tutti.engine.dispatch.DefaultProcessGroup;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.service.group.FakeGroup;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(20)
class CollectiveSpansTest {

	private final TracingTest.Collected collected = new TracingTest.Collected();

	private final CollectiveSpans spans = new CollectiveSpans(1, Resource.getDefault(),
			List.of(SimpleSpanProcessor.create(this.collected)));

	@Test
	void aGroupThatIsNotAmongTheTracedOnesForATimeIsNotExportedTwice() {
		FakeGroup joined = new FakeGroup(0, 3, 0);
		DefaultProcessGroup pair = group(joined, "pair", List.of(0, 1));
		joined.onGroups(List.of(pair));
		pair.barrier();
		this.spans.collect(joined);
		joined.onGroups(
				Stream
					.concat(Stream.of(pair),
							IntStream.range(0, RankTrace.MAX_GROUPS)
								.mapToObj((number) -> group(joined, "all" + number, List.of(0, 1, 2))))
					.toList());
		this.spans.collect(joined);
		joined.onGroups(List.of(pair));
		this.spans.collect(joined);
		assertThat(this.collected.spans()).extracting(CollectiveSpansTest::group).containsExactly("pair");
	}

	private static String group(SpanData span) {
		return span.getAttributes().get(AttributeKey.stringKey("tutti.group"));
	}

	private static DefaultProcessGroup group(FakeGroup joined, String name, List<Integer> members) {
		return new DefaultProcessGroup(joined.world().identity().other(name, 0, members), new IdleBackend("tcp"),
				new FailureLatch(), joined, Timeouts.DEFAULTS);
	}

}
