package io.tutti.engine.bootstrap;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import io.tutti.engine.control.ControlMessage.Roster;
import io.tutti.engine.control.Membership;
import io.tutti.engine.control.PeerAddress;
import io.tutti.engine.control.RendezvousSettings;

/** A scripted rank 0: admits every rank, then sends only the messages of a test. */
final class RawRankZero implements AutoCloseable {

	private final Map<Integer, RawRank> ranks = new HashMap<>();

	/** Completes rendezvous with all other ranks of a world. */
	RawRankZero(TestWorld world, RendezvousSettings settings) {
		List<CompletableFuture<Membership>> joining = new ArrayList<>();
		try (ServerSocket listener = new ServerSocket(world.port, 50, InetAddress.getLoopbackAddress())) {
			for (int rank = 1; rank < world.worldSize; rank++) {
				joining.add(world.joining(rank, settings));
				this.ranks.put(rank, welcome(listener.accept()));
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		List<PeerAddress> roster = IntStream.range(0, world.worldSize)
			.mapToObj((rank) -> new PeerAddress(rank, "127.0.0.1", 7000, "host"))
			.toList();
		this.ranks.values().forEach((raw) -> raw.send(new Roster(0, new byte[32], "", roster)));
		for (int rank = 1; rank < world.worldSize; rank++) {
			world.members.put(rank, TestWorld.join(joining.get(rank - 1)));
		}
	}

	/** Does the handshake of a job without a token with a client. */
	static RawRank welcome(Socket socket) {
		RawRank raw = new RawRank(socket);
		try {
			raw.send(Handshake.ofControl(null).accept(StreamChannel.over(socket), () -> {
			}).welcome());
			return raw;
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	RawRank rank(int rank) {
		return this.ranks.get(rank);
	}

	/** Closes all connections, as a killed process does. */
	void crash() {
		close();
	}

	@Override
	public void close() {
		this.ranks.values().forEach(RawRank::close);
	}

}
