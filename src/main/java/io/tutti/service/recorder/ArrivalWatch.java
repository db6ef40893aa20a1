package io.tutti.service.recorder;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;

import io.tutti.Failure;
import io.tutti.engine.backend.JoinedGroup;
import io.tutti.engine.diagnosis.Analysis;
import io.tutti.engine.diagnosis.GroupFinding.Arrival;
import io.tutti.service.group.GroupLifecycle;
import org.jspecify.annotations.Nullable;

/**
 * Measures how late this rank arrives at collectives of the world group. A read returns
 * the cached value immediately; if the value is stale, the read also starts a query of
 * the ranks in the background.
 */
public final class ArrivalWatch {

	/** Minimum time between two queries of a rank. */
	private static final Duration PERIOD = Duration.ofSeconds(5);

	/**
	 * The same for each rank of the group: every rank queries all of them through rank 0,
	 * whose load would else grow with the square of their number.
	 */
	private static final Duration PERIOD_PER_RANK = Duration.ofMillis(200);

	private static final Duration QUERY_LIMIT = Duration.ofSeconds(2);

	/** Number of calls in the average, of which the analysis takes the last minute's. */
	private static final int CALLS = 100;

	private final GroupLifecycle group;

	private final AtomicBoolean asking = new AtomicBoolean();

	private volatile double meanMicros = Double.NaN;

	/** The group whose value is cached. */
	private volatile @Nullable JoinedGroup measured;

	private volatile long askedNanos;

	ArrivalWatch(GroupLifecycle group) {
		this.group = group;
	}

	/**
	 * Mean delay behind the first rank over the last minute's calls, in microseconds; NaN
	 * if unknown.
	 */
	public double meanMicros() {
		JoinedGroup joined = this.group.joined();
		if (joined != null && isStale(joined) && this.asking.compareAndSet(false, true)) {
			Thread.ofVirtual().name("tutti-arrivals").start(() -> ask(joined));
		}
		return (joined != null && joined == this.measured) ? this.meanMicros : Double.NaN;
	}

	private boolean isStale(JoinedGroup joined) {
		return joined != this.measured || System.nanoTime() - this.askedNanos >= Math.max(PERIOD.toNanos(),
				PERIOD_PER_RANK.toNanos() * joined.world().worldSize());
	}

	private void ask(JoinedGroup joined) {
		double mean = Double.NaN;
		try {
			int rank = joined.world().rank();
			mean = Analysis.of(joined.world().worldSize(), joined.accounts(CALLS, QUERY_LIMIT))
				.findings()
				.stream()
				.filter((finding) -> finding.group().equals(Failure.WORLD))
				.flatMap((finding) -> finding.arrivals().stream())
				.filter((arrival) -> arrival.rank() == rank)
				.mapToDouble(Arrival::meanMicros)
				.findFirst()
				.orElse(Double.NaN);
		}
		finally {
			this.meanMicros = mean;
			this.measured = joined;
			this.askedNanos = System.nanoTime();
			this.asking.set(false);
		}
	}

}
