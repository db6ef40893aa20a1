package io.tutti.service.metrics;

import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.ToIntFunction;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.FunctionTimer;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.tutti.GroupState;
import io.tutti.engine.backend.JoinedGroup;
import io.tutti.engine.control.PeerStatus;
import io.tutti.service.group.GroupLifecycle;
import io.tutti.service.group.PeerSummary;
import io.tutti.service.recorder.ArrivalWatch;
import org.jspecify.annotations.Nullable;

/**
 * Meters of the group's state, of its peers as a whole and of this rank's arrival delay.
 * Their number does not depend on the world size. Peer meters have no value before the
 * group has formed.
 */
final class GroupMetrics implements MeterBinder {

	private final GroupLifecycle group;

	private final ArrivalWatch arrivals;

	GroupMetrics(GroupLifecycle group, ArrivalWatch arrivals) {
		this.group = group;
		this.arrivals = arrivals;
	}

	@Override
	public void bindTo(MeterRegistry registry) {
		for (GroupState state : GroupState.values()) {
			Gauge.builder("tutti.group.state", this.group, (group) -> (group.status().state() == state) ? 1 : 0)
				.description("1 for the current state of the group")
				.tag("state", state.name().toLowerCase(Locale.ROOT))
				.register(registry);
		}
		Gauge.builder("tutti.group.generation", this, GroupMetrics::generation)
			.description("Generation of the group")
			.register(registry);
		TimeGauge.builder("tutti.rendezvous.duration", this, TimeUnit.NANOSECONDS, GroupMetrics::formingNanos)
			.description("Duration of rendezvous")
			.register(registry);
		TimeGauge.builder("tutti.rank.arrival.skew", this.arrivals, TimeUnit.MICROSECONDS, ArrivalWatch::meanMicros)
			.description("Mean arrival delay of this rank after the first rank in the last collectives")
			.register(registry);
		bindReforms(registry);
		bindPeers(registry, "up", PeerSummary::up);
		bindPeers(registry, "unknown", PeerSummary::unknown);
		bindPeers(registry, "left", PeerSummary::left);
		bindPeers(registry, "lost", PeerSummary::lost);
		bindTime(registry, "tutti.peer.rtt.max",
				"Longest of the last round trips that this rank measured: to every peer on rank 0, to rank 0 on the others",
				TimeUnit.MICROSECONDS, PeerSummary::maxRoundTripMicros);
		bindTime(registry, "tutti.peer.rtt.median", "Median of the same round trips", TimeUnit.MICROSECONDS,
				PeerSummary::medianRoundTripMicros);
		bindTime(registry, "tutti.peer.silence.max",
				"Longest time since this rank last received from a peer that is up: any on rank 0, rank 0 on the others",
				TimeUnit.MILLISECONDS, PeerSummary::maxSilenceMs);
	}

	private void bindReforms(MeterRegistry registry) {
		FunctionCounter.builder("tutti.group.reforms", this.group, (group) -> group.history().reforms())
			.description("Generations of the group after this process's first one")
			.register(registry);
		FunctionTimer
			.builder("tutti.group.reform.duration", this.group, (group) -> group.history().reforms(),
					(group) -> group.history().reforming().toNanos(), TimeUnit.NANOSECONDS)
			.description("Time that these generations took to form")
			.register(registry);
	}

	private void bindPeers(MeterRegistry registry, String state, ToIntFunction<PeerSummary> count) {
		Gauge.builder("tutti.peers", this, (self) -> {
			PeerSummary peers = self.peers((_) -> true);
			return (peers != null) ? count.applyAsInt(peers) : Double.NaN;
		}).description("Other ranks by state").tag("state", state).register(registry);
	}

	private void bindTime(MeterRegistry registry, String name, String description, TimeUnit unit,
			Function<PeerSummary, @Nullable Long> time) {
		TimeGauge.builder(name, this, unit, (self) -> {
			PeerSummary peers = self.measuredPeers();
			Long known = (peers != null) ? time.apply(peers) : null;
			return (known != null) ? known : Double.NaN;
		}).description(description).register(registry);
	}

	private double generation() {
		JoinedGroup joined = this.group.joined();
		return (joined != null) ? joined.world().generation() : Double.NaN;
	}

	private double formingNanos() {
		long nanos = this.group.formedAfter().toNanos();
		return (nanos > 0) ? nanos : Double.NaN;
	}

	/**
	 * The peers to which this rank has a control connection. What rank 0 reports of the
	 * others is in its own meters, or a slow rank would show in those of every rank.
	 */
	private @Nullable PeerSummary measuredPeers() {
		boolean all = this.group.assignment().rank() == 0;
		return peers((peer) -> all || peer.rank() == 0);
	}

	private @Nullable PeerSummary peers(Predicate<PeerStatus> chosen) {
		JoinedGroup joined = this.group.joined();
		return (joined != null) ? PeerSummary.of(joined.control().peers().stream().filter(chosen).toList()) : null;
	}

}
