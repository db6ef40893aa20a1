package io.tutti.engine.rendezvous.meeting;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.stream.IntStream;

import io.tutti.engine.rendezvous.PeerAddress;
import io.tutti.engine.rendezvous.wire.Absence;
import io.tutti.engine.rendezvous.wire.ControlMessage.Hello;
import org.jspecify.annotations.Nullable;

/**
 * Who has come to the meeting. Rank 0 is there from the start.
 */
final class Seats {

	/**
	 * A rank that has come.
	 *
	 * @param sameHost whether it came by a loopback address, so from rank 0's own host
	 * @param reachedAt the address of rank 0 that it reached
	 */
	record Guest(Hello hello, boolean sameHost, String reachedAt) {
	}

	private final @Nullable Guest[] guests;

	/** Who had come before its connection dropped. */
	private final BitSet dropped;

	/** Who had come and left in order. */
	private final BitSet left;

	private int taken = 1;

	Seats(int worldSize) {
		this.guests = new Guest[worldSize];
		this.dropped = new BitSet(worldSize);
		this.left = new BitSet(worldSize);
	}

	boolean isTaken(int rank) {
		return rank == 0 || this.guests[rank] != null;
	}

	void take(Guest guest) {
		int rank = guest.hello().rank();
		this.guests[rank] = guest;
		this.dropped.clear(rank);
		this.left.clear(rank);
		this.taken++;
	}

	/** The rank's connection dropped; it may come again. */
	void drop(int rank) {
		free(rank);
		this.dropped.set(rank);
	}

	/** The rank has said goodbye; it may come again. */
	void leave(int rank) {
		free(rank);
		this.left.set(rank);
	}

	private void free(int rank) {
		this.guests[rank] = null;
		this.taken--;
	}

	boolean allTaken() {
		return this.taken == this.guests.length;
	}

	int taken() {
		return this.taken;
	}

	Absence absence() {
		List<Integer> missing = IntStream.range(1, this.guests.length)
			.filter((rank) -> !isTaken(rank))
			.boxed()
			.toList();
		return new Absence(missing, this.dropped.stream().boxed().toList(), this.left.stream().boxed().toList());
	}

	/**
	 * Where rank 0 is reached: by ranks of other hosts, if there are any, else by
	 * loopback.
	 */
	String rankZeroHost(String otherwise) {
		String host = otherwise;
		for (Guest guest : this.guests) {
			if (guest != null) {
				host = guest.reachedAt();
				if (!guest.sameHost()) {
					return host;
				}
			}
		}
		return host;
	}

	/**
	 * The ranks that want to be found at a loopback address though some are on other
	 * hosts.
	 * @param rankZeroHost the host that rank 0 chose, {@code null} if it did not
	 */
	List<Integer> hidden(@Nullable String rankZeroHost) {
		if (oneHost()) {
			return List.of();
		}
		List<Integer> hidden = new ArrayList<>();
		if (rankZeroHost != null && MeetingAddress.isLoopback(rankZeroHost)) {
			hidden.add(0);
		}
		for (Guest guest : this.guests) {
			if (guest != null && guest.hello().hostChosen() && MeetingAddress.isLoopback(guest.hello().host())) {
				hidden.add(guest.hello().rank());
			}
		}
		return hidden;
	}

	private boolean oneHost() {
		return Arrays.stream(this.guests).allMatch((guest) -> guest == null || guest.sameHost());
	}

	/**
	 * Everybody's address, once all have come. Where some ranks are on other hosts,
	 * loopback is of no use to them: a rank that came by it is reached where rank 0 is.
	 * @param rankZeroHost where rank 0 is reached
	 */
	List<PeerAddress> roster(PeerAddress rankZero, String rankZeroHost) {
		List<PeerAddress> roster = new ArrayList<>(this.guests.length);
		roster.add(rankZero);
		boolean oneHost = oneHost();
		for (Guest guest : this.guests) {
			if (guest != null) {
				Hello hello = guest.hello();
				boolean ownHost = oneHost || hello.hostChosen() || !guest.sameHost();
				roster.add(new PeerAddress(hello.rank(), ownHost ? hello.host() : rankZeroHost, hello.dataPort(),
						hello.hostIdentity()));
			}
		}
		return roster;
	}

}
