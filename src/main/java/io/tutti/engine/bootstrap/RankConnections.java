package io.tutti.engine.bootstrap;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Objects;
import java.util.stream.Stream;

import io.tutti.engine.control.ControlConnection;
import io.tutti.engine.control.ControlMessage;
import io.tutti.engine.control.MessageCodec;
import org.jspecify.annotations.Nullable;

/**
 * Rank 0's connections to the ranks that have joined.
 */
final class RankConnections implements AutoCloseable {

	/** The connection of a rank. */
	record Joined(int rank, ControlConnection connection) {
	}

	private final @Nullable Joined[] byRank;

	RankConnections(int worldSize) {
		this.byRank = new Joined[worldSize];
	}

	void add(Joined joined) {
		this.byRank[joined.rank()] = joined;
	}

	/**
	 * Removes a connection.
	 * @return whether it was still the rank's
	 */
	boolean remove(Joined joined) {
		if (this.byRank[joined.rank()] != joined) {
			return false;
		}
		this.byRank[joined.rank()] = null;
		return true;
	}

	/** A copy, so that connections can be removed meanwhile. */
	Stream<Joined> stream() {
		return Arrays.stream(this.byRank.clone()).filter(Objects::nonNull);
	}

	void send(int rank, ControlMessage message) {
		Joined joined = this.byRank[rank];
		if (joined != null) {
			joined.connection().send(message);
		}
	}

	/** Encodes the message once, whatever the number of ranks. */
	void broadcast(ControlMessage message) {
		ByteBuffer frame = MessageCodec.encode(message);
		for (Joined joined : this.byRank) {
			if (joined != null) {
				joined.connection().send(frame);
			}
		}
	}

	/** Ends the output of all connections. */
	void finish() {
		stream().forEach((joined) -> joined.connection().finish());
	}

	@Override
	public void close() {
		stream().forEach((joined) -> joined.connection().close());
	}

}
