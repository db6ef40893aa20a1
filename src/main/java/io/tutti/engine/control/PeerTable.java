package io.tutti.engine.control;

import java.time.Duration;
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

	private record Progress(List<RankProgress> byGroup, long atNanos) {
	}

	private final LongSupplier nanoClock;

	private final AtomicReferenceArray<PeerStatus.State> states;

	/** The clock reading when data of a rank was last received; 0 for never. */
	private final AtomicLongArray receivedNanos;

	private final AtomicLongArray roundTripMicros;

	/** By rank, the progress in its last heartbeat. */
	private final AtomicReferenceArray<@Nullable Progress> progress;

	private volatile List<PeerAddress> roster = List.of();

	public PeerTable(int worldSize, LongSupplier nanoClock) {
		this.nanoClock = nanoClock;
		this.states = new AtomicReferenceArray<>(worldSize);
		this.receivedNanos = new AtomicLongArray(worldSize);
		this.roundTripMicros = new AtomicLongArray(worldSize);
		this.progress = new AtomicReferenceArray<>(worldSize);
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
			throw new MalformedFrameException(
					"a roster must have one entry for each of " + this.states.length() + " ranks, in rank order");
		}
	}

	/** Sets the addresses of all ranks. Before this there are no peers. */
	public void roster(List<PeerAddress> addresses) {
		this.roster = List.copyOf(addresses);
	}

	public void received(int rank) {
		this.receivedNanos.set(rank, this.nanoClock.getAsLong());
	}

	/** The clock reading when data of the rank was last received. */
	public long lastReceivedNanos(int rank) {
		return this.receivedNanos.get(rank);
	}

	public void roundTrip(int rank, long nanos) {
		this.roundTripMicros.set(rank, TimeUnit.NANOSECONDS.toMicros(Math.max(0, nanos)));
	}

	/** A rank has sent a heartbeat with its progress. */
	public void progress(int rank, List<RankProgress> byGroup) {
		this.progress.set(rank, new Progress(byGroup, this.nanoClock.getAsLong()));
	}

	/** A rank's last known call in a group and its age, for an error message. */
	String lastProgress(int rank, String group) {
		Progress last = this.progress.get(rank);
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
		return this.states.length();
	}

	/** Whether the number is a rank of this world. */
	boolean holds(int rank) {
		return rank >= 0 && rank < this.states.length();
	}

	/** Whether the number is a rank of this world that has not left and is not lost. */
	public boolean isUp(int rank) {
		return holds(rank) && this.states.get(rank) == PeerStatus.State.UP;
	}

	PeerStatus.State state(int rank) {
		return this.states.get(rank);
	}

	/**
	 * A rank has left or is lost. It never comes up again.
	 * @return whether it was up until now
	 */
	boolean gone(int rank, PeerStatus.State how) {
		return this.states.compareAndSet(rank, PeerStatus.State.UP, how);
	}

	/** Applies rank 0's update for the ranks that this rank has no connection to. */
	void take(List<PeerLiveness> peerUpdate, int self) {
		long now = this.nanoClock.getAsLong();
		for (int rank = 1; rank < Math.min(peerUpdate.size(), this.states.length()); rank++) {
			if (rank != self) {
				PeerLiveness peer = peerUpdate.get(rank);
				this.states.set(rank, peer.state());
				this.roundTripMicros.set(rank, peer.roundTripMicros());
				this.receivedNanos.set(rank,
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
		long at = this.receivedNanos.get(rank);
		return (at == 0) ? UNKNOWN : TimeUnit.NANOSECONDS.toMillis(Math.max(0, this.nanoClock.getAsLong() - at));
	}

	private static int saturated(long value) {
		return (int) Math.min(value, Integer.MAX_VALUE);
	}

}
