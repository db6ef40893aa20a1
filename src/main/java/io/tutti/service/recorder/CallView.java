package io.tutti.service.recorder;

import java.time.Instant;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.tutti.engine.diagnosis.RankTrace;
import io.tutti.engine.dispatch.CallRecord;
import io.tutti.engine.spi.CallSignature;
import org.jspecify.annotations.Nullable;

/**
 * One collective that a rank has called.
 *
 * @param sequence sequence number in the group
 * @param collective name of the collective
 * @param count element count that all ranks agree on
 * @param type element type
 * @param op operator; absent where the collective has none
 * @param root root rank of the group; absent where the collective has none
 * @param bytes size of the larger of this rank's two buffers
 * @param state state of the call
 * @param issuedAt when the caller issued it
 * @param waitedMicros how long it waited for its turn
 * @param durationMicros how long it took, or has taken so far
 * @param algorithm algorithm of the collective; absent if unknown
 * @param site call site; absent unless {@code tutti.flight-recorder.sites} is on
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record CallView(long sequence, String collective, long count, String type, @Nullable String op,
		@Nullable Integer root, long bytes, CallRecord.State state, Instant issuedAt, double waitedMicros,
		double durationMicros, @Nullable String algorithm, @Nullable String site) {

	private static final double NANOS_PER_MICRO = 1e3;

	static CallView of(RankTrace account, CallRecord record) {
		CallSignature call = record.call();
		return new CallView(call.sequence(), call.collective().label(), call.count(), call.type().label(), op(call),
				root(call), record.bytes(), record.state(), instant(account.epochNanos(record.issuedNanos())),
				(record.startedNanos() - record.issuedNanos()) / NANOS_PER_MICRO,
				record.durationNanos(account.takenNanos()) / NANOS_PER_MICRO,
				record.algorithm().isEmpty() ? null : record.algorithm(), record.site());
	}

	static Instant instant(long epochNanos) {
		return Instant.ofEpochSecond(0, epochNanos);
	}

	private static @Nullable String op(CallSignature call) {
		return call.collective().reduces() ? call.op().label() : null;
	}

	private static @Nullable Integer root(CallSignature call) {
		return call.collective().isRooted() ? call.root() : null;
	}

}
