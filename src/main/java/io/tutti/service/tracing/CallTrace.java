package io.tutti.service.tracing;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

import io.opentelemetry.api.trace.SpanId;
import io.opentelemetry.api.trace.TraceId;
import io.tutti.engine.spi.Sha256;

/**
 * The trace of one collective. Its ids are derived from values that every rank knows, so
 * the spans of all ranks line up without communication. The span of the group's rank 0 is
 * the root span, those of the other ranks are its children.
 *
 * @param high upper half of the trace id
 * @param low lower half of the trace id
 */
record CallTrace(long high, long low) {

	/** Odd mixing constant: 2^64 divided by the golden ratio. */
	private static final long FACTOR = 0x9E37_79B9_7F4A_7C15L;

	static CallTrace of(String runId, String group, long sequence) {
		ByteBuffer digest = ByteBuffer
			.wrap(Sha256.of((runId + '\n' + group + '\n' + sequence).getBytes(StandardCharsets.UTF_8)));
		return new CallTrace(digest.getLong(), digest.getLong());
	}

	String traceId() {
		return TraceId.fromLongs(this.high, this.low | 1);
	}

	/** The span id of a rank of the group. */
	String spanId(int groupRank) {
		long mixed = (this.high ^ (groupRank + 1) * FACTOR) * FACTOR;
		return SpanId.fromLong(mixed ^ mixed >>> 32 | 1);
	}

	/** Whether this trace is sampled; every rank decides alike. */
	boolean isKept(double share) {
		return (this.low >>> 11) * 0x1p-53 < share;
	}

}
