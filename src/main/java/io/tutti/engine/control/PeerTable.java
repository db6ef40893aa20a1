package io.tutti.engine.control;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.function.LongSupplier;

import org.jspecify.annotations.Nullable;

/**
 * The state of every rank as known to this process. Written by the control thread, read
 * by any thread.
 */
public final class PeerTable {

	private static final long UNKNOWN = -1;

	private final LongSupplier nanoClock;

	private final AtomicReferenceArray<PeerStatus.State> states;

	/** The clock reading when a rank was last heard; 0 for never. */
	private final AtomicLongArray heard;

	private final AtomicLongArray roundTripMicros;

	private volatile List<PeerAddress> roster = List.of();

	public PeerTable(int worldSize, LongSupplier nanoClock) {
		this.nanoClock = nanoClock;
		this.states = new AtomicReferenceArray<>(worldSize);
		this.heard = new AtomicLongArray(worldSize);
		this.roundTripMicros = new AtomicLongArray(worldSize);
		for (int rank = 0; rank < worldSize; rank++) {
			this.states.set(rank, PeerStatus.State.UP);
			this.roundTripMicros.set(rank, UNKNOWN);
		}
	}

	/** Checks that a received roster has one entry per rank, in rank order. */
	public void requireWhole(List<PeerAddress> addresses) throws MalformedFrameException {
		boolean inPlace = addresses.size() == this.states.length();
		for (int rank = 0; inPlace && rank < addresses.size(); rank++) {
			inPlace = addresses.get(rank).rank() == rank;
		}
		if (!inPlace) {
			throw new MalformedFrameException("a roster that is not one of " + this.states.length() + " ranks");
		}
	}

	/** Sets the addresses of all ranks. Before this there are no peers. */
	public void roster(List<PeerAddress> addresses) {
		this.roster = List.copyOf(addresses);
	}

	public void heard(int rank) {
		this.heard.set(rank, this.nanoClock.getAsLong());
	}

	/** The clock reading when the rank was last heard. */
	public long heardNanos(int rank) {
		return this.heard.get(rank);
	}

	public void roundTrip(int rank, long nanos) {
		this.roundTripMicros.set(rank, TimeUnit.NANOSECONDS.toMicros(Math.max(0, nanos)));
	}

	public void state(int rank, PeerStatus.State state) {
		this.states.set(rank, state);
	}

	/** Applies rank 0's update for the ranks that this rank has no connection to. */
	void take(List<PeerLiveness> peerUpdate, int self) {
		long now = this.nanoClock.getAsLong();
		for (int rank = 1; rank < Math.min(peerUpdate.size(), this.states.length()); rank++) {
			if (rank != self) {
				PeerLiveness peer = peerUpdate.get(rank);
				this.states.set(rank, peer.state());
				this.roundTripMicros.set(rank, peer.roundTripMicros());
				this.heard.set(rank,
						(peer.lastSeenMillis() < 0) ? 0 : now - TimeUnit.MILLISECONDS.toNanos(peer.lastSeenMillis()));
			}
		}
	}

	/** The update that rank 0 sends to the other ranks. */
	public List<PeerLiveness> peerUpdate() {
		List<PeerLiveness> result = new ArrayList<>(this.states.length());
		for (int rank = 0; rank < this.states.length(); rank++) {
			result.add(new PeerLiveness(this.states.get(rank), saturated(lastSeenMillis(rank)),
					saturated(this.roundTripMicros.get(rank))));
		}
		return result;
	}

	/** The status of the other ranks, by rank. */
	List<PeerStatus> others(int self) {
		return this.roster.stream().filter((address) -> address.rank() != self).map(this::status).toList();
	}

	/** The status of one rank, {@code null} while there is no roster. */
	@Nullable PeerStatus known(int rank) {
		List<PeerAddress> addresses = this.roster;
		return addresses.isEmpty() ? null : status(addresses.get(rank));
	}

	private PeerStatus status(PeerAddress address) {
		int rank = address.rank();
		return new PeerStatus(rank, address.host(), address.port(), lastSeenMillis(rank),
				this.roundTripMicros.get(rank), this.states.get(rank));
	}

	private long lastSeenMillis(int rank) {
		long at = this.heard.get(rank);
		return (at == 0) ? UNKNOWN : TimeUnit.NANOSECONDS.toMillis(Math.max(0, this.nanoClock.getAsLong() - at));
	}

	private static int saturated(long value) {
		return (int) Math.min(value, Integer.MAX_VALUE);
	}

}
