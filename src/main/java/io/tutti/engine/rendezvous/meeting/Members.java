package io.tutti.engine.rendezvous.meeting;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Objects;
import java.util.stream.Stream;

import io.tutti.engine.rendezvous.wire.ControlMessage;
import io.tutti.engine.rendezvous.wire.MessageCodec;
import org.jspecify.annotations.Nullable;

/**
 * Rank 0's connections to the ranks that have their seats.
 */
final class Members implements AutoCloseable {

	private final @Nullable Caller[] byRank;

	Members(int worldSize) {
		this.byRank = new Caller[worldSize];
	}

	void add(Caller caller) {
		this.byRank[caller.rank()] = caller;
	}

	/**
	 * The connection has gone.
	 * @return whether it was a member's
	 */
	boolean remove(Caller caller) {
		int rank = caller.rank();
		if (rank < 0 || this.byRank[rank] != caller) {
			return false;
		}
		this.byRank[rank] = null;
		return true;
	}

	/** A copy, so that members may go meanwhile. */
	Stream<Caller> stream() {
		return Arrays.stream(this.byRank.clone()).filter(Objects::nonNull);
	}

	void send(int rank, ControlMessage message) {
		Caller caller = this.byRank[rank];
		if (caller != null) {
			caller.connection().send(message);
		}
	}

	/** Encodes once, whatever the number of members. */
	void broadcast(ControlMessage message) {
		ByteBuffer frame = MessageCodec.encode(message);
		for (Caller caller : this.byRank) {
			if (caller != null) {
				caller.connection().send(frame);
			}
		}
	}

	/** Nothing more will be said to anybody. */
	void finish() {
		stream().forEach((caller) -> caller.connection().finish());
	}

	@Override
	public void close() {
		stream().forEach((caller) -> caller.connection().close());
	}

}
