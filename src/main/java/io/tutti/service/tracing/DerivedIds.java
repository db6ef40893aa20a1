package io.tutti.service.tracing;

import io.opentelemetry.sdk.trace.IdGenerator;

/**
 * Gives the next span its derived trace id and span id. Used by one thread.
 */
final class DerivedIds implements IdGenerator {

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
