package io.tutti.service.tracing;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import io.opentelemetry.api.trace.Span;
import io.opentelemetry.api.trace.SpanBuilder;
import io.opentelemetry.api.trace.SpanContext;
import io.opentelemetry.api.trace.StatusCode;
import io.opentelemetry.api.trace.TraceFlags;
import io.opentelemetry.api.trace.TraceState;
import io.opentelemetry.api.trace.Tracer;
import io.opentelemetry.context.Context;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.IdGenerator;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.SdkTracerProviderBuilder;
import io.opentelemetry.sdk.trace.SpanProcessor;
import io.tutti.engine.backend.JoinedGroup;
import io.tutti.engine.diagnosis.GroupTrace;
import io.tutti.engine.diagnosis.RankTrace;
import io.tutti.engine.dispatch.CallRecord;
import io.tutti.engine.dispatch.DefaultProcessGroup;

/**
 * Exports spans of the collectives that have ended since the last collection, as far as
 * the flight recorder still holds them. Used by one thread.
 */
final class CollectiveSpans {

	private static final int MOST_AT_ONCE = 500;

	private final double share;

	private final DerivedIds ids = new DerivedIds();

	private final Tracer tracer;

	/** By group, the sequence number of the last call that was examined. */
	private final Map<String, Long> seen = new HashMap<>();

	private long generation = -1;

	private String runId = "";

	/**
	 * Sends spans to processors, which remain the caller's to close.
	 * @param share sampled share of all collectives, 0 to 1; every rank samples the same
	 * ones
	 */
	CollectiveSpans(double share, Resource resource, List<SpanProcessor> processors) {
		this.share = share;
		SdkTracerProviderBuilder provider = SdkTracerProvider.builder().setIdGenerator(this.ids).setResource(resource);
		processors.forEach(provider::addSpanProcessor);
		this.tracer = provider.build().get("io.tutti");
	}

	/** A generation has formed, with which sequence numbers restart. */
	void begin(JoinedGroup joined) {
		if (joined.world().generation() > this.generation) {
			this.generation = joined.world().generation();
			this.runId = joined.runId();
			this.seen.clear();
		}
	}

	/** Exports what has ended since, and forgets the groups that are closed. */
	void collect(JoinedGroup joined) {
		begin(joined);
		List<DefaultProcessGroup> groups = joined.groups();
		collect(RankTrace.take(joined.world().rank(), joined.world().generation(), groups, MOST_AT_ONCE));
		this.seen.keySet().retainAll(groups.stream().map((group) -> group.identity().name()).toList());
	}

	/** Exports what has ended since in the last generation that has formed. */
	void collect(RankTrace account) {
		if (account.generation() == this.generation) {
			account.groups().forEach((group) -> collect(account, group));
		}
	}

	private void collect(RankTrace account, GroupTrace group) {
		long last = this.seen.getOrDefault(group.group(), -1L);
		for (CallRecord call : group.calls()) {
			if (call.call().sequence() > last && call.state() != CallRecord.State.RUNNING) {
				last = call.call().sequence();
				CallTrace trace = CallTrace.of(this.runId, group.group(), last);
				if (trace.isKept(this.share)) {
					export(account, group, call, trace);
				}
			}
		}
		this.seen.put(group.group(), last);
	}

	private void export(RankTrace account, GroupTrace group, CallRecord call, CallTrace trace) {
		int groupRank = group.members().indexOf(account.rank());
		this.ids.next(trace, groupRank);
		SpanBuilder builder = this.tracer.spanBuilder(call.call().collective().label())
			.setParent((groupRank == 0) ? Context.root() : Context.root().with(Span.wrap(root(trace))))
			.setStartTimestamp(account.epochNanos(call.startedNanos()), TimeUnit.NANOSECONDS)
			.setAttribute("tutti.rank", account.rank())
			.setAttribute("tutti.generation", account.generation())
			.setAttribute("tutti.group", group.group())
			.setAttribute("tutti.sequence", call.call().sequence())
			.setAttribute("tutti.call", call.call().toString())
			.setAttribute("tutti.bytes", call.bytes())
			.setAttribute("tutti.algorithm", call.algorithm())
			.setAttribute("tutti.transport", group.transport());
		Span span = builder.startSpan();
		if (call.state() == CallRecord.State.FAILED) {
			span.setStatus(StatusCode.ERROR);
		}
		span.end(account.epochNanos(call.endedNanos()), TimeUnit.NANOSECONDS);
	}

	private static SpanContext root(CallTrace trace) {
		return SpanContext.createFromRemoteParent(trace.traceId(), trace.spanId(0), TraceFlags.getSampled(),
				TraceState.getDefault());
	}

	/** Gives the next span its derived trace id and span id. */
	private static final class DerivedIds implements IdGenerator {

		private String traceId = "";

		private String spanId = "";

		void next(CallTrace trace, int groupRank) {
			this.traceId = trace.traceId();
			this.spanId = trace.spanId(groupRank);
		}

		@Override
		public String generateSpanId() {
			return this.spanId;
		}

		@Override
		public String generateTraceId() {
			return this.traceId;
		}

	}

}
