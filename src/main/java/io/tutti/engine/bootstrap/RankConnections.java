package io.tutti.engine.bootstrap;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Objects;
import java.util.stream.Stream;

import io.tutti.engine.control.ControlMessage;
import io.tutti.engine.control.MessageCodec;
import org.jspecify.annotations.Nullable;

/**
 * Rank 0's connections to the ranks that have their ranks.
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
	 * The connection has gone.
	 * @return whether it was a member's
	 */
	boolean remove(PendingConnection pending) {
		int rank = pending.rank();
		if (rank < 0 || this.byRank[rank] != pending) {
			return false;
		}
		this.byRank[rank] = null;
		return true;
	}

	/** A copy, so that members may go meanwhile. */
	Stream<PendingConnection> stream() {
		return Arrays.stream(this.byRank.clone()).filter(Objects::nonNull);
	}

	void send(int rank, ControlMessage message) {
		PendingConnection pending = this.byRank[rank];
		if (pending != null) {
			pending.connection().send(message);
		}
	}

	/** Encodes once, whatever the number of members. */
	void broadcast(ControlMessage message) {
		ByteBuffer frame = MessageCodec.encode(message);
		for (PendingConnection pending : this.byRank) {
			if (pending != null) {
				pending.connection().send(frame);
			}
		}
	}

	/** Nothing more will be said to anybody. */
	void finish() {
		stream().forEach((pending) -> pending.connection().finish());
	}

	@Override
	public void close() {
		stream().forEach((pending) -> pending.connection().close());
	}

}
