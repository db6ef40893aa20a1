package io.tutti.engine.control;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

/**
 * The state of every rank as known to this process. Written by the control thread, read
 * by any thread.
 */
public final class PeerTable {

	private static final long UNKNOWN = -1;

	private record Progress(List<RankProgress> byGroup, long atNanos) {
	}

	private static final class Peer {

		private volatile PeerStatus.State state = PeerStatus.State.UP;

		/** The clock reading when data was last received; 0 for never. */
		private volatile long receivedNanos;

		private volatile long roundTripMicros = UNKNOWN;

		/** The progress in its last heartbeat. */
		private volatile @Nullable Progress progress;

	}

	private final LongSupplier nanoClock;

	private final List<Peer> peers;

	private volatile List<PeerAddress> roster = List.of();

	public PeerTable(int worldSize, LongSupplier nanoClock) {
		this.nanoClock = nanoClock;
		this.peers = Stream.generate(Peer::new).limit(worldSize).toList();
	}

	/** Checks that a received roster has one entry per rank, in rank order. */
	public void requireWhole(List<PeerAddress> addresses) throws MalformedFrameException {
		boolean inPlace = addresses.size() == worldSize();
		for (int rank = 0; inPlace && rank < addresses.size(); rank++) {
			inPlace = addresses.get(rank).rank() == rank;
		}
		if (!inPlace) {
			throw new MalformedFrameException(
					"a roster must have one entry for each of " + worldSize() + " ranks, in rank order");
		}
	}

	/** Sets the addresses of all ranks. Before this there are no peers. */
	public void roster(List<PeerAddress> addresses) {
		this.roster = List.copyOf(addresses);
	}

	public void received(int rank) {
		this.peers.get(rank).receivedNanos = this.nanoClock.getAsLong();
	}

	/** The clock reading when data of the rank was last received. */
	public long lastReceivedNanos(int rank) {
		return this.peers.get(rank).receivedNanos;
	}

	public void roundTrip(int rank, long nanos) {
		this.peers.get(rank).roundTripMicros = TimeUnit.NANOSECONDS.toMicros(Math.max(0, nanos));
	}

	/** A rank has sent a heartbeat with its progress. */
	public void progress(int rank, List<RankProgress> byGroup) {
		this.peers.get(rank).progress = new Progress(byGroup, this.nanoClock.getAsLong());
	}

	/** A rank's last known call in a group and its age, for an error message. */
	String lastProgress(int rank, String group) {
		Progress last = this.peers.get(rank).progress;
		if (last == null) {
			return "it has sent no heartbeat since rendezvous";
		}
		String when = Duration.ofNanos(this.nanoClock.getAsLong() - last.atNanos()).toMillis() + " ms ago";
		return last.byGroup()
			.stream()
			.filter((progress) -> progress.group().equals(group) && progress.lastEntered() >= 0)
			.findFirst()
			.map((progress) -> "it was last seen in #" + progress.lastEntered() + ", " + when)
			.orElse("it was last seen " + when + ", in no call of this group");
	}

	public int worldSize() {
		return this.peers.size();
	}

	/** Whether the number is a rank of this world. */
	boolean holds(int rank) {
		return rank >= 0 && rank < this.peers.size();
	}

	/** Whether the number is a rank of this world that has not left and is not lost. */
	public boolean isUp(int rank) {
		return holds(rank) && state(rank) == PeerStatus.State.UP;
	}

	PeerStatus.State state(int rank) {
		return this.peers.get(rank).state;
	}

	/**
	 * A rank has left or is lost. It never comes up again.
	 * @return whether it was up until now
	 */
	boolean gone(int rank, PeerStatus.State how) {
		boolean wasUp = isUp(rank);
		if (wasUp) {
			this.peers.get(rank).state = how;
		}
		return wasUp;
	}

	/** Applies rank 0's update for the ranks that this rank has no connection to. */
	void take(List<PeerLiveness> peerUpdate, int self) {
		long now = this.nanoClock.getAsLong();
		for (int rank = 1; rank < Math.min(peerUpdate.size(), this.peers.size()); rank++) {
			if (rank != self) {
				PeerLiveness update = peerUpdate.get(rank);
				Peer peer = this.peers.get(rank);
				peer.state = update.state();
				peer.roundTripMicros = update.roundTripMicros();
				peer.receivedNanos = (update.lastSeenMillis() < 0) ? 0
						: now - TimeUnit.MILLISECONDS.toNanos(update.lastSeenMillis());
			}
		}
	}

	/** The update that rank 0 sends to the other ranks. */
	public List<PeerLiveness> peerUpdate() {
		return this.peers.stream()
			.map((peer) -> new PeerLiveness(peer.state, saturated(lastSeenMillis(peer)),
					saturated(peer.roundTripMicros)))
			.toList();
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
		Peer peer = this.peers.get(address.rank());
		PeerStatus.State state = peer.state;
		boolean reported = state != PeerStatus.State.UP || isUp(0);
		return new PeerStatus(address.rank(), address.host(), address.port(), lastSeenMillis(peer),
				peer.roundTripMicros, reported ? state : PeerStatus.State.UNKNOWN);
	}

	private long lastSeenMillis(Peer peer) {
		long at = peer.receivedNanos;
		return (at == 0) ? UNKNOWN : TimeUnit.NANOSECONDS.toMillis(Math.max(0, this.nanoClock.getAsLong() - at));
	}

	private static int saturated(long value) {
		return (int) Math.min(value, Integer.MAX_VALUE);
	}

}
