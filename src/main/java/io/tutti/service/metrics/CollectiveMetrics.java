package io.tutti.service.metrics;

import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.tutti.Collective;
import io.tutti.Failure;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.backend.JoinedGroup;
import io.tutti.engine.dispatch.CallDurations;
import io.tutti.engine.dispatch.CallTotals;
import io.tutti.engine.dispatch.DefaultProcessGroup;
import io.tutti.service.group.GroupLifecycle;

/**
 * Meters of this rank's collectives: counts, durations, bandwidth and failures.
 */
final class CollectiveMetrics implements MeterBinder {

	private static final String OUTCOME = "outcome";

	private final GroupLifecycle group;

	private final EngineSettings settings;

	private final FailureCounts failures;

	private final RecentSpeeds speeds = new RecentSpeeds();

	CollectiveMetrics(GroupLifecycle group, EngineSettings settings, FailureCounts failures) {
		this.group = group;
		this.settings = settings;
		this.failures = failures;
	}

	@Override
	public void bindTo(MeterRegistry registry) {
		for (Collective collective : Collective.values()) {
			Tags tags = Tags.of("op", collective.label(), "backend", this.settings.backend());
			bindDuration(registry, collective, tags);
			bindSpeed(registry, collective, tags);
		}
		bindFailures(registry);
		Gauge.builder("tutti.collective.inflight", this, CollectiveMetrics::inFlight)
			.description("Collectives in flight on this rank, over all its groups")
			.register(registry);
		Gauge.builder("tutti.collective.last.sequence", this, (self) -> self.ofWorld(DefaultProcessGroup::lastEntered))
			.description("Sequence number of the last collective of the world group")
			.register(registry);
	}

	private void bindDuration(MeterRegistry registry, Collective collective, Tags tags) {
		timer(collective, CallTotals::success).tags(tags.and(OUTCOME, "success")).register(registry);
		timer(collective, CallTotals::failure).tags(tags.and(OUTCOME, "failure")).register(registry);
		FunctionCounter.builder("tutti.collective.bytes", this, (self) -> self.total(collective, CallTotals::bytes))
			.description("Bytes of the larger of the two buffers of each successful call")
			.baseUnit("bytes")
			.tags(tags)
			.register(registry);
	}

	private FunctionTimer.Builder<CollectiveMetrics> timer(Collective collective,
			Function<CallTotals, CallDurations> outcome) {
		return FunctionTimer
			.builder(CollectiveDurations.METER, this,
					(self) -> self.total(collective, (totals) -> outcome.apply(totals).count()),
					(self) -> self.total(collective, (totals) -> outcome.apply(totals).nanos()), TimeUnit.NANOSECONDS)
			.description("Collectives, and the time from their start to their end");
	}

	private void bindSpeed(MeterRegistry registry, Collective collective, Tags tags) {
		if (collective == Collective.BARRIER) {
			return;
		}
		Gauge
			.builder("tutti.collective.algorithm.bandwidth", this,
					(self) -> self.ofWorld((world) -> self.speeds.algorithmBandwidth(world, collective)))
			.description("Bytes of the whole buffer per second of the last minute's calls of the world group")
			.baseUnit("bytes_per_second")
			.tags(tags)
			.register(registry);
		Gauge
			.builder("tutti.collective.bus.bandwidth", this,
					(self) -> self.ofWorld((world) -> self.speeds.algorithmBandwidth(world, collective)
							* collective.busFactor(world.worldSize())))
			.description("Bytes per second of the busiest connection, comparable between world sizes")
			.baseUnit("bytes_per_second")
			.tags(tags)
			.register(registry);
	}

	private void bindFailures(MeterRegistry registry) {
		failures(registry, "tutti.collective.timeouts", "Groups that broke because a deadline passed",
				Failure.Kind.TIMEOUT);
		failures(registry, "tutti.collective.mismatches", "Groups that broke because of a mismatch of collectives",
				Failure.Kind.MISMATCH);
		failures(registry, "tutti.collective.aborts", "Groups that were aborted", Failure.Kind.ABORTED);
	}

	private void failures(MeterRegistry registry, String name, String description, Failure.Kind kind) {
		FunctionCounter.builder(name, this.failures, (counts) -> counts.of(kind))
			.description(description)
			.register(registry);
	}

	private long total(Collective collective, ToLongFunction<CallTotals> part) {
		return part.applyAsLong(this.group.totals(collective));
	}

	private double inFlight() {
		JoinedGroup joined = this.group.joined();
		return (joined != null) ? joined.groups().stream().filter((each) -> each.recorder().running() != null).count()
				: 0;
	}

	private double ofWorld(ToDoubleFunction<DefaultProcessGroup> value) {
		JoinedGroup joined = this.group.joined();
		return (joined != null) ? value.applyAsDouble(joined.world()) : Double.NaN;
	}

}
