package io.tutti.service.metrics;

import java.util.concurrent.TimeUnit;

import io.tutti.Collective;
import io.tutti.engine.dispatch.CallRecord;
import io.tutti.engine.dispatch.DefaultProcessGroup;
import io.tutti.engine.dispatch.FlightRecorder;
import io.tutti.engine.spi.CallSignature;
import org.jspecify.annotations.Nullable;

/**
 * Recent bandwidth of a group's calls by collective. The recorder is read at most once a
 * second, since one scrape queries each collective twice.
 */
final class RecentSpeeds {

	private static final long LATELY = TimeUnit.MINUTES.toNanos(1);

	private static final long FRESH = TimeUnit.SECONDS.toNanos(1);

	private static final double NANOS_PER_SECOND = 1e9;

	private volatile @Nullable Speeds known;

	/**
	 * Bytes of the whole buffer per second over the last minute's successful calls; NaN
	 * if there were none.
	 */
	double algorithmBandwidth(DefaultProcessGroup group, Collective collective) {
		long now = System.nanoTime();
		Speeds speeds = this.known;
		if (speeds == null || speeds.group() != group || now - speeds.takenNanos() >= FRESH) {
			speeds = Speeds.of(group, now);
			this.known = speeds;
		}
		return speeds.bytesPerSecond()[collective.ordinal()];
	}

	private record Speeds(DefaultProcessGroup group, long takenNanos, double[] bytesPerSecond) {

		static Speeds of(DefaultProcessGroup group, long now) {
			int collectives = Collective.values().length;
			long[] bytes = new long[collectives];
			long[] nanos = new long[collectives];
			for (CallRecord call : group.recorder().latest(FlightRecorder.CAPACITY)) {
				if (call.state() == CallRecord.State.DONE && now - call.endedNanos() < LATELY) {
					int collective = call.call().collective().ordinal();
					bytes[collective] += wholeBytes(call, group.worldSize());
					nanos[collective] += call.durationNanos(now);
				}
			}
			double[] bytesPerSecond = new double[collectives];
			for (int collective = 0; collective < collectives; collective++) {
				bytesPerSecond[collective] = (nanos[collective] > 0)
						? bytes[collective] * NANOS_PER_SECOND / nanos[collective] : Double.NaN;
			}
			return new Speeds(group, now, bytesPerSecond);
		}

		/** A rank that is not the root of a gather or scatter has one part only. */
		private static long wholeBytes(CallRecord record, int ranks) {
			CallSignature call = record.call();
			return switch (call.collective()) {
				case GATHER, SCATTER -> call.count() * call.type().bytes() * ((call.countsDigest() == 0) ? ranks : 1);
				case ALL_REDUCE, REDUCE, BROADCAST, ALL_GATHER, REDUCE_SCATTER, ALL_TO_ALL, SCAN, EXCLUSIVE_SCAN,
						BARRIER ->
					record.bytes();
			};
		}

	}

}
