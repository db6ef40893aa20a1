package io.tutti.engine.bootstrap;

import java.nio.ByteBuffer;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.tutti.engine.control.ControlConnection;
import io.tutti.engine.control.ControlMessage;
import io.tutti.engine.control.MessageCodec;
import org.jspecify.annotations.Nullable;

/**
 * Rank 0's connections to the ranks that have joined.
 */
final class RankConnections implements AutoCloseable {

	private final @Nullable ControlConnection[] byRank;

	RankConnections(int worldSize) {
		this.byRank = new ControlConnection[worldSize];
	}

	void add(ControlConnection connection) {
		this.byRank[connection.peer()] = connection;
	}

	/**
	 * Removes a connection.
	 * @return whether it was still the rank's
	 */
	boolean remove(ControlConnection connection) {
		if (this.byRank[connection.peer()] != connection) {
			return false;
		}
		this.byRank[connection.peer()] = null;
		return true;
	}

	/** The ranks that are connected. */
	IntStream ranks() {
		return IntStream.range(0, this.byRank.length).filter((rank) -> this.byRank[rank] != null);
	}

	void send(int rank, ControlMessage message) {
		ControlConnection connection = this.byRank[rank];
		if (connection != null) {
			connection.send(message);
		}
	}

	/** Encodes the message once, whatever the number of ranks. */
	void broadcast(ControlMessage message) {
		ByteBuffer frame = MessageCodec.encode(message);
		forEach((connection) -> connection.send(frame));
	}

	/** Ends the output of all connections. */
	void finish() {
		forEach(ControlConnection::finish);
	}

	@Override
	public void close() {
		forEach(ControlConnection::close);
	}

	private void forEach(Consumer<ControlConnection> action) {
		Stream.of(this.byRank).filter(Objects::nonNull).forEach(action);
	}

}
