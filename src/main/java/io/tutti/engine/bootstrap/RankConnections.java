package io.tutti.engine.bootstrap;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Objects;
import java.util.stream.Stream;

import io.tutti.engine.control.ControlMessage;
import io.tutti.engine.control.MessageCodec;
import org.jspecify.annotations.Nullable;

/**
 * Rank 0's connections to the ranks that have joined.
 */
final class RankConnections implements AutoCloseable {

	private final @Nullable PendingConnection[] byRank;

	RankConnections(int worldSize) {
		this.byRank = new PendingConnection[worldSize];
	}

	void add(PendingConnection pending) {
		this.byRank[pending.rank()] = pending;
	}

	/**
	 * Removes a closed connection.
	 * @return whether it was a rank's
	 */
	boolean remove(PendingConnection pending) {
		int rank = pending.rank();
		if (rank < 0 || this.byRank[rank] != pending) {
			return false;
		}
		this.byRank[rank] = null;
		return true;
	}

	/** A copy, so that connections can be removed meanwhile. */
	Stream<PendingConnection> stream() {
		return Arrays.stream(this.byRank.clone()).filter(Objects::nonNull);
	}

	void send(int rank, ControlMessage message) {
		PendingConnection pending = this.byRank[rank];
		if (pending != null) {
			pending.connection().send(message);
		}
	}

	/** Encodes the message once, whatever the number of ranks. */
	void broadcast(ControlMessage message) {
		ByteBuffer frame = MessageCodec.encode(message);
		for (PendingConnection pending : this.byRank) {
			if (pending != null) {
				pending.connection().send(frame);
			}
		}
	}

	/** Ends the output of all connections. */
	void finish() {
		stream().forEach((pending) -> pending.connection().finish());
	}

	@Override
	public void close() {
		stream().forEach((pending) -> pending.connection().close());
	}

}
