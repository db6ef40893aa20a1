package io.tutti.engine.bootstrap;

import java.io.IOException;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

import io.tutti.engine.control.ControlConnection;
import io.tutti.engine.control.ControlMessage.Hello;
import io.tutti.engine.control.MissingRanks;
import io.tutti.engine.control.PeerAddress;
import io.tutti.engine.spi.GroupIdentity;
import org.jspecify.annotations.Nullable;

/**
 * The ranks that have joined. Rank 0 has joined from the start.
 */
final class RankTable {

	/**
	 * A rank that has joined.
	 *
	 * @param sameHost whether it connected over a loopback address, so from rank 0's host
	 * @param reachedAt the address of rank 0 that it reached
	 */
	record Entry(Hello hello, boolean sameHost, String reachedAt) {

		static Entry of(Hello hello, ControlConnection connection) throws IOException {
			return new Entry(hello, connection.remote().getAddress().isLoopbackAddress(),
					Endpoint.text(connection.local().getAddress()));
		}

	}

	private final @Nullable Entry[] entries;

	/** Ranks that had joined and whose connection dropped. */
	private final BitSet dropped;

	/** Ranks that had joined and left in order. */
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

	/** The rank's connection dropped. It may join again. */
	void drop(int rank) {
		free(rank);
		this.dropped.set(rank);
	}

	/** The rank has left. It may join again. */
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

	MissingRanks absence() {
		List<Integer> missing = GroupIdentity.ranksWhere(this.entries.length, (rank) -> !isTaken(rank));
		return new MissingRanks(missing, this.dropped.stream().boxed().toList(), this.left.stream().boxed().toList());
	}

	/**
	 * The address of rank 0: the one that ranks of other hosts reached, if there are any,
	 * else loopback.
	 */
	String rankZeroHost(String otherwise) {
		return joined().min(Comparator.comparing(Entry::sameHost)).map(Entry::reachedAt).orElse(otherwise);
	}

	private Stream<Entry> joined() {
		return Stream.of(this.entries).filter(Objects::nonNull);
	}

	/**
	 * The ranks that advertise a loopback address though some ranks are on other hosts.
	 * @param rankZeroHost the host that rank 0 advertises, {@code null} if none is
	 * configured
	 */
	List<Integer> hidden(@Nullable String rankZeroHost) {
		if (oneHost()) {
			return List.of();
		}
		List<Integer> hidden = new ArrayList<>();
		if (rankZeroHost != null && Endpoint.isLoopback(rankZeroHost)) {
			hidden.add(0);
		}
		joined().map(Entry::hello)
			.filter((hello) -> hello.hostChosen() && Endpoint.isLoopback(hello.host()))
			.forEach((hello) -> hidden.add(hello.rank()));
		return hidden;
	}

	private boolean oneHost() {
		return joined().allMatch(Entry::sameHost);
	}

	/**
	 * The addresses of all ranks, once all have joined. Ranks of other hosts cannot use
	 * loopback: a rank that connected over it gets the address of rank 0's host.
	 * @param rankZeroHost the address of rank 0
	 */
	List<PeerAddress> roster(PeerAddress rankZero, String rankZeroHost) {
		List<PeerAddress> roster = new ArrayList<>(this.entries.length);
		roster.add(rankZero);
		boolean oneHost = oneHost();
		joined().forEach((entry) -> {
			Hello hello = entry.hello();
			boolean ownHost = oneHost || hello.hostChosen() || !entry.sameHost();
			roster.add(new PeerAddress(hello.rank(), ownHost ? hello.host() : rankZeroHost, hello.dataPort(),
					hello.hostIdentity()));
		});
		return roster;
	}

}
