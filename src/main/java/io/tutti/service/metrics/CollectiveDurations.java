package io.tutti.service.metrics;

import java.util.Arrays;
import java.util.Set;

import io.prometheus.metrics.model.registry.Collector;
import io.prometheus.metrics.model.registry.MetricType;
import io.prometheus.metrics.model.snapshots.ClassicHistogramBuckets;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot;
import io.prometheus.metrics.model.snapshots.HistogramSnapshot.HistogramDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricFamilyDescriptor;
import io.prometheus.metrics.model.snapshots.MetricMetadata;
import io.prometheus.metrics.model.snapshots.Unit;
import io.tutti.Collective;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.dispatch.CallDurations;
import io.tutti.engine.dispatch.CallTotals;
import io.tutti.service.group.GroupLifecycle;

/**
 * The histogram of collective durations for Prometheus, with the series of the
 * collectives that this rank has called. The engine counts; Micrometer has no meter that
 * reads a histogram.
 */
final class CollectiveDurations implements Collector {

	/** The same in Micrometer's notation. */
	static final String METER = "tutti.collective.duration";

	private static final String NAME = "tutti_collective_duration_seconds";

	private static final String HELP = "Durations of collectives, from their start to their end";

	private static final double[] BOUNDS_SECONDS = boundsSeconds();

	private final GroupLifecycle group;

	private final EngineSettings settings;

	CollectiveDurations(GroupLifecycle group, EngineSettings settings) {
		this.group = group;
		this.settings = settings;
	}

	@Override
	public MetricFamilyDescriptor getMetricFamilyDescriptor() {
		return MetricFamilyDescriptor.of(MetricType.HISTOGRAM, new MetricMetadata(NAME, HELP, Unit.SECONDS),
				Set.of("backend", "op", "outcome"));
	}

	@Override
	public HistogramSnapshot collect() {
		HistogramSnapshot.Builder family = HistogramSnapshot.builder().name(NAME).unit(Unit.SECONDS).help(HELP);
		for (Collective collective : Collective.values()) {
			CallTotals totals = this.group.totals(collective);
			if (totals.success().count() + totals.failure().count() > 0) {
				family.dataPoint(point(collective, "failure", totals.failure()));
				family.dataPoint(point(collective, "success", totals.success()));
			}
		}
		return family.build();
	}

	private HistogramDataPointSnapshot point(Collective collective, String outcome, CallDurations durations) {
		HistogramDataPointSnapshot.Builder point = HistogramDataPointSnapshot.builder();
		point.labels(Labels.of("backend", this.settings.backend(), "op", collective.label(), "outcome", outcome));
		point.sum(durations.nanos() / 1e9);
		return point
			.classicHistogramBuckets(
					ClassicHistogramBuckets.of(BOUNDS_SECONDS, durations.counts().toArray(Number[]::new)))
			.build();
	}

	private static double[] boundsSeconds() {
		double[] bounds = Arrays.stream(CallDurations.boundsNanos()).mapToDouble((nanos) -> nanos / 1e9).toArray();
		double[] all = Arrays.copyOf(bounds, bounds.length + 1);
		all[bounds.length] = Double.POSITIVE_INFINITY;
		return all;
	}

}
