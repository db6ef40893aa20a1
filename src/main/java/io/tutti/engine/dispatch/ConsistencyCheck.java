package io.tutti.engine.dispatch;

import java.util.concurrent.atomic.AtomicLong;

import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.CallObserver;
import io.tutti.engine.spi.CallReport;
import io.tutti.engine.spi.CallSignature;
import org.jspecify.annotations.Nullable;

/**
 * Reports this rank's calls to rank 0, which compares them with the calls of the other
 * ranks: each call that has waited long, and each call that rank 0 asks for.
 */
final class ConsistencyCheck implements CallObserver {

	/** Calls before a disputed one that are reported; rank 0 compares no more. */
	private static final int COMPARED = 6;

	private final String group;

	private final FlightRecorder recorder;

	private final FailureLatch latch;

	/** Calls up to this one are reported when they begin: a peer waits in one of them. */
	private final AtomicLong askedThrough = new AtomicLong(-1);

	ConsistencyCheck(String group, FlightRecorder recorder, FailureLatch latch) {
		this.group = group;
		this.recorder = recorder;
		this.latch = latch;
	}

	/**
	 * The call with this sequence number, {@code null} if the recorder no longer holds it
	 * or it has not begun. A call that has not begun is reported when it begins, has
	 * waited long, or ends.
	 */
	@Nullable CallReport called(long sequence) {
		this.askedThrough.accumulateAndGet(sequence, Math::max);
		CallSignature found = this.recorder.find(sequence);
		return (found != null) ? CallReport.remembered(this.group, found, this.recorder.memory(sequence)) : null;
	}

	/**
	 * A call has begun and is in the recorder; no backend has inspected its buffers. A
	 * memory fence would cost much of a small call. So a query that comes at this moment
	 * may be missed; the call is then reported once it has waited long or has ended.
	 */
	void begun(Call call) {
		if (call.sequence() <= this.askedThrough.get()) {
			this.latch.reportCall(CallReport.unseen(this.group, call));
		}
	}

	/** A call has ended: the memory kind of its buffers is known. */
	void ended(Call call) {
		CallReport report = (call.sequence() <= this.askedThrough.get()) ? called(call.sequence()) : null;
		if (report != null) {
			this.latch.reportCall(report);
		}
	}

	@Override
	public void waited(Call begun) {
		this.latch.reportCall(CallReport.begun(this.group, begun));
	}

	@Override
	public void disputed(Call begun) {
		for (long earlier = begun.sequence() - COMPARED; earlier < begun.sequence(); earlier++) {
			CallReport report = called(earlier);
			if (report != null) {
				this.latch.reportCall(report);
			}
		}
	}

}
