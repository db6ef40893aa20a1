package io.tutti.service.metrics;

import java.util.Locale;
import java.util.concurrent.TimeUnit;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.TimeGauge;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.tutti.GroupState;
import io.tutti.engine.control.PeerStatus;
import io.tutti.service.group.GroupLifecycle;
import io.tutti.service.group.JoinedGroup;
import io.tutti.service.recorder.ArrivalWatch;
import org.jspecify.annotations.Nullable;

/**
 * Meters of the group's state, of its peers and of this rank's arrival delay. Peer meters
 * have no value before the group has formed.
 */
final class GroupMetrics implements MeterBinder {

	private static final double MICROS_PER_SECOND = 1e6;

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
		for (int rank = 0; rank < this.group.assignment().worldSize(); rank++) {
			if (rank != this.group.assignment().rank()) {
				bindPeer(registry, rank);
			}
		}
	}

	private void bindPeer(MeterRegistry registry, int rank) {
		Gauge.builder("tutti.peer.up", this, (self) -> self.up(rank))
			.description("Whether the peer is connected")
			.tag("peer", String.valueOf(rank))
			.register(registry);
		Gauge.builder("tutti.peer.rtt", this, (self) -> self.roundTripSeconds(rank))
			.description("Last measured round trip to the peer over the control plane")
			.baseUnit("seconds")
			.tag("peer", String.valueOf(rank))
			.register(registry);
	}

	private double generation() {
		JoinedGroup joined = this.group.joined();
		return (joined != null) ? joined.world().generation() : Double.NaN;
	}

	private double formingNanos() {
		long nanos = this.group.formedAfter().toNanos();
		return (nanos > 0) ? nanos : Double.NaN;
	}

	private double up(int rank) {
		PeerStatus peer = peer(rank);
		if (peer == null) {
			return Double.NaN;
		}
		if (peer.state() != PeerStatus.State.UP) {
			return 0;
		}
		return hearsOf(rank) ? 1 : Double.NaN;
	}

	/**
	 * A rank learns the state of the others from rank 0, so it is current only while rank
	 * 0 is up.
	 */
	private boolean hearsOf(int rank) {
		PeerStatus source = peer(0);
		return rank == 0 || this.group.assignment().rank() == 0
				|| (source != null && source.state() == PeerStatus.State.UP);
	}

	private double roundTripSeconds(int rank) {
		PeerStatus peer = peer(rank);
		return (peer != null && peer.roundTripMicros() >= 0) ? peer.roundTripMicros() / MICROS_PER_SECOND : Double.NaN;
	}

	private @Nullable PeerStatus peer(int rank) {
		JoinedGroup joined = this.group.joined();
		return (joined != null) ? joined.control().peer(rank) : null;
	}

}
