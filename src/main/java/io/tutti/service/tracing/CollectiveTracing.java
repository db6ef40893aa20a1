package io.tutti.service.tracing;

import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.tutti.engine.backend.JoinedGroup;
import io.tutti.engine.diagnosis.RankTrace;
import io.tutti.service.group.GroupLifecycle;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.SmartLifecycle;

/**
 * Collects spans of collectives once a second and at the end if a span exporter is
 * configured. Starts no thread otherwise.
 */
final class CollectiveTracing implements SmartLifecycle {

	private static final Logger log = LoggerFactory.getLogger(CollectiveTracing.class);

	private static final long PERIOD_MILLIS = 1000;

	/** Limit of the last collection, since an exporter may wait for its receiver. */
	private static final long LAST_MILLIS = 1000;

	private final GroupLifecycle group;

	private final double share;

	private final ObjectProvider<SpanProcessor> processors;

	private final ObjectProvider<Resource> resource;

	private @Nullable ScheduledExecutorService thread;

	private @Nullable CollectiveSpans spans;

	CollectiveTracing(GroupLifecycle group, @Value("${management.tracing.sampling.probability:0.1}") double share,
			ObjectProvider<SpanProcessor> processors, ObjectProvider<Resource> resource) {
		this.group = group;
		this.share = share;
		this.processors = processors;
		this.resource = resource;
	}

	@Override
	public synchronized void start() {
		List<SpanProcessor> receivers = this.processors.stream().toList();
		if (receivers.isEmpty()) {
			return;
		}
		CollectiveSpans spans = new CollectiveSpans(this.share, this.resource.getIfAvailable(Resource::getDefault),
				receivers);
		// Once it is shut down, it drops what the listeners below still add.
		ScheduledExecutorService executor = new ScheduledThreadPoolExecutor(1,
				Thread.ofPlatform().name("tutti-traces").daemon().factory(), new ThreadPoolExecutor.DiscardPolicy());
		executor.scheduleWithFixedDelay(() -> collect(spans), PERIOD_MILLIS, PERIOD_MILLIS, TimeUnit.MILLISECONDS);
		this.thread = executor;
		this.spans = spans;
		this.group.onFormed((joined) -> executor.execute(() -> spans.begin(joined)));
		this.group.onBroken((broken) -> collect(executor, spans, broken.trace()));
	}

	/** The last calls of a generation, whose groups close before the next collection. */
	private static void collect(Executor executor, CollectiveSpans spans, @Nullable RankTrace trace) {
		if (trace != null) {
			executor.execute(() -> spans.collect(trace));
		}
	}

	private void collect(CollectiveSpans spans) {
		JoinedGroup joined = this.group.joined();
		if (joined == null) {
			return;
		}
		try {
			spans.collect(joined);
		}
		catch (RuntimeException ex) {
			// Rethrowing would cancel the schedule.
			log.warn("collectives could not be traced", ex);
		}
	}

	/** Collects once more: the group is left after this. */
	@Override
	public synchronized void stop() {
		ScheduledExecutorService executor = this.thread;
		CollectiveSpans last = this.spans;
		if (executor == null || last == null) {
			return;
		}
		this.thread = null;
		executor.execute(() -> collect(last));
		executor.shutdown();
		try {
			executor.awaitTermination(LAST_MILLIS, TimeUnit.MILLISECONDS);
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		executor.shutdownNow();
	}

	@Override
	public synchronized boolean isRunning() {
		return this.thread != null;
	}

}
