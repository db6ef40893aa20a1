package io.tutti.benchmark.peer;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/**
 * A system that the benchmark is compared with.
 */
public enum Peer {

	/** Open MPI. */
	OPENMPI("openmpi"),
	/** MPICH. */
	MPICH("mpich"),
	/** Gloo, which supports TCP only. */
	GLOO("gloo");

	private final String label;

	Peer(String label) {
		this.label = label;
	}

	/** The name in options and output. */
	public String label() {
		return this.label;
	}

	/**
	 * Parses a list such as {@code openmpi,gloo}: each peer once, in the given order.
	 * @throws IllegalArgumentException if a name is unknown
	 */
	public static List<Peer> parse(String list) {
		List<Peer> peers = new ArrayList<>();
		for (String name : list.split(",", -1)) {
			Peer peer = named(name.strip());
			if (!peers.contains(peer)) {
				peers.add(peer);
			}
		}
		return peers;
	}

	private static Peer named(String name) {
		return Arrays.stream(values())
			.filter((peer) -> peer.label.equals(name))
			.findFirst()
			.orElseThrow(() -> new IllegalArgumentException("peers are "
					+ Arrays.stream(values()).map(Peer::label).collect(Collectors.joining(", ")) + ", got " + name));
	}

}
