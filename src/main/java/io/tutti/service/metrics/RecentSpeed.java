package io.tutti.service.metrics;

import java.util.concurrent.TimeUnit;

import io.tutti.engine.CallRecord;
import io.tutti.engine.Collective;
import io.tutti.engine.FlightRecorder;
import io.tutti.engine.ProcessGroup;

/**
 * How fast a group's calls of one collective were lately.
 *
 * @param bytes bytes of the calls that ended well in the last minute
 * @param nanos time that they took
 */
record RecentSpeed(long bytes, long nanos) {

	private static final long LATELY = TimeUnit.MINUTES.toNanos(1);

	private static final double NANOS_PER_SECOND = 1e9;

	static RecentSpeed of(ProcessGroup group, Collective collective) {
		long now = System.nanoTime();
		long bytes = 0;
		long nanos = 0;
		for (CallRecord call : group.recorder().latest(FlightRecorder.CAPACITY)) {
			boolean counts = call.state() == CallRecord.State.DONE && call.call().collective() == collective
					&& now - call.endedNanos() < LATELY;
			if (counts) {
				bytes += call.bytes();
				nanos += call.durationNanos(now);
			}
		}
		return new RecentSpeed(bytes, nanos);
	}

	/** Bytes of the buffer per second; not a number where nothing was called. */
	double algorithmBandwidth() {
		return (this.nanos > 0) ? this.bytes * NANOS_PER_SECOND / this.nanos : Double.NaN;
	}

}
