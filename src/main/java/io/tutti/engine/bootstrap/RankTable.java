package io.tutti.engine.bootstrap;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.stream.IntStream;

import io.tutti.engine.control.PeerAddress;
import io.tutti.engine.control.MissingRanks;
import io.tutti.engine.control.ControlMessage.Hello;
import org.jspecify.annotations.Nullable;

/**
 * Who has come to the meeting. Rank 0 is there from the start.
 */
final class RankTable {

	/**
	 * A rank that has come.
	 *
	 * @param sameHost whether it came by a loopback address, so from rank 0's own host
	 * @param reachedAt the address of rank 0 that it reached
	 */
	record Entry(Hello hello, boolean sameHost, String reachedAt) {
	}

	private final @Nullable Entry[] entries;

	/** Who had come before its connection dropped. */
	private final BitSet dropped;

	/** Who had come and left in order. */
	private final BitSet left;

	private int taken = 1;

	RankTable(int worldSize) {
		this.entries = new Entry[worldSize];
		this.dropped = new BitSet(worldSize);
		this.left = new BitSet(worldSize);
	}

	boolean isTaken(int rank) {
		return rank == 0 || this.entries[rank] != null;
	}

	void take(Entry entry) {
		int rank = entry.hello().rank();
		this.entries[rank] = entry;
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
		this.entries[rank] = null;
		this.taken--;
	}

	boolean allTaken() {
		return this.taken == this.entries.length;
	}

	int taken() {
		return this.taken;
	}

	MissingRanks absence() {
		List<Integer> missing = IntStream.range(1, this.entries.length)
			.filter((rank) -> !isTaken(rank))
			.boxed()
			.toList();
		return new MissingRanks(missing, this.dropped.stream().boxed().toList(), this.left.stream().boxed().toList());
	}

	/**
	 * Where rank 0 is reached: by ranks of other hosts, if there are any, else by
	 * loopback.
	 */
	String rankZeroHost(String otherwise) {
		String host = otherwise;
		for (Entry entry : this.entries) {
			if (entry != null) {
				host = entry.reachedAt();
				if (!entry.sameHost()) {
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
		if (rankZeroHost != null && RendezvousAddress.isLoopback(rankZeroHost)) {
			hidden.add(0);
		}
		for (Entry entry : this.entries) {
			if (entry != null && entry.hello().hostChosen() && RendezvousAddress.isLoopback(entry.hello().host())) {
				hidden.add(entry.hello().rank());
			}
		}
		return hidden;
	}

	private boolean oneHost() {
		return Arrays.stream(this.entries).allMatch((entry) -> entry == null || entry.sameHost());
	}

	/**
	 * Everybody's address, once all have come. Where some ranks are on other hosts,
	 * loopback is of no use to them: a rank that came by it is reached where rank 0 is.
	 * @param rankZeroHost where rank 0 is reached
	 */
	List<PeerAddress> roster(PeerAddress rankZero, String rankZeroHost) {
		List<PeerAddress> roster = new ArrayList<>(this.entries.length);
		roster.add(rankZero);
		boolean oneHost = oneHost();
		for (Entry entry : this.entries) {
			if (entry != null) {
				Hello hello = entry.hello();
				boolean ownHost = oneHost || hello.hostChosen() || !entry.sameHost();
				roster.add(new PeerAddress(hello.rank(), ownHost ? hello.host() : rankZeroHost, hello.dataPort(),
						hello.hostIdentity()));
			}
		}
		return roster;
	}

}
