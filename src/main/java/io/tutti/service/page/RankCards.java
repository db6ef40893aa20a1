package io.tutti.service.page;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.tutti.Failure;
import io.tutti.engine.control.PeerStatus;
import io.tutti.engine.diagnosis.Analysis;
import io.tutti.engine.diagnosis.GroupFinding;
import io.tutti.engine.diagnosis.GroupTrace;
import io.tutti.engine.diagnosis.RankTrace;
import io.tutti.engine.dispatch.CallRecord;
import org.jspecify.annotations.Nullable;

/**
 * Combines what is known about each rank from its trace, the control plane and the
 * analysis.
 */
final class RankCards {

	/** A rank whose call takes at least this long is shown as waiting. */
	private static final long A_MOMENT_MICROS = 100_000;

	private final int self;

	private final Map<Integer, RankTrace> accounts;

	private final Map<Integer, PeerStatus> peers = new HashMap<>();

	private final Map<Integer, Long> lateMicros = new HashMap<>();

	private final Set<Integer> missing = new HashSet<>();

	private final Set<Integer> lost = new HashSet<>();

	RankCards(int self, Map<Integer, RankTrace> accounts, List<PeerStatus> peers, Analysis analysis,
			@Nullable Failure failure) {
		this.self = self;
		this.accounts = accounts;
		peers.forEach((peer) -> this.peers.put(peer.rank(), peer));
		for (GroupFinding finding : analysis.findings()) {
			if (finding.kind() == GroupFinding.Kind.MISSING || finding.kind() == GroupFinding.Kind.MISMATCH) {
				this.missing.addAll(finding.ranks());
			}
			if (finding.group().equals(Failure.WORLD)) {
				finding.arrivals().forEach((arrival) -> this.lateMicros.put(arrival.rank(), arrival.meanMicros()));
			}
		}
		if (failure != null && failure.kind() == Failure.Kind.PEER_LOST) {
			this.lost.addAll(failure.ranks());
		}
	}

	List<RankCard> all(int worldSize) {
		List<RankCard> cards = new ArrayList<>(worldSize);
		for (int rank = 0; rank < worldSize; rank++) {
			cards.add(card(rank));
		}
		return cards;
	}

	private RankCard card(int rank) {
		RankTrace account = this.accounts.get(rank);
		GroupTrace world = (account != null) ? account.group(Failure.WORLD) : null;
		CallRecord running = (world != null) ? world.running() : null;
		long micros = (running != null) ? running.durationNanos(account.takenNanos()) / 1000 : 0;
		PeerStatus peer = this.peers.get(rank);
		Long roundTrip = (peer != null && peer.roundTripMicros() >= 0) ? peer.roundTripMicros() : null;
		return new RankCard(rank, rank == this.self, state(rank, peer, account, micros),
				(running != null) ? "in " + running.call() : null, (world != null) ? world.last() : -1, roundTrip,
				this.lateMicros.get(rank));
	}

	private String state(int rank, @Nullable PeerStatus peer, @Nullable RankTrace account, long micros) {
		if (this.lost.contains(rank) || peer != null && peer.state() == PeerStatus.State.LOST) {
			return "lost";
		}
		if (peer != null && peer.state() == PeerStatus.State.LEFT) {
			return "left";
		}
		if (account == null) {
			return (rank == this.self) ? "up" : "silent";
		}
		if (this.missing.contains(rank)) {
			return "missing";
		}
		return (micros >= A_MOMENT_MICROS) ? "waiting" : "up";
	}

}
