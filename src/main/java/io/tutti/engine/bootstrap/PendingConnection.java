package io.tutti.engine.bootstrap;

import java.io.IOException;
import java.net.InetAddress;

import io.tutti.engine.control.ControlConnection;
import io.tutti.engine.control.ControlMessage.Hello;
import io.tutti.engine.control.ControlMessage.Refused;
import org.jspecify.annotations.Nullable;

/**
 * A connection to rank 0: first of an unknown client, then of a rank once the client has
 * authenticated and joined.
 */
final class PendingConnection {

	private static final int NO_RANK = -1;

	private final ControlConnection connection;

	private final ServerHandshake handshake;

	private @Nullable Hello hello;

	private boolean refused;

	PendingConnection(ControlConnection connection, ServerHandshake handshake) {
		this.connection = connection;
		this.handshake = handshake;
	}

	ControlConnection connection() {
		return this.connection;
	}

	ServerHandshake handshake() {
		return this.handshake;
	}

	/** The client has joined as a rank. */
	void seat(Hello proved) {
		this.hello = proved;
		this.connection.trust();
	}

	/** Sends the reason for a rejection and ignores all later input. */
	void refuse(Refused refusal) {
		this.refused = true;
		this.connection.send(refusal);
		this.connection.finish();
	}

	boolean refused() {
		return this.refused;
	}

	/** The client's rank, or -1 before it has joined. */
	int rank() {
		return (this.hello != null) ? this.hello.rank() : NO_RANK;
	}

	/** The rank table's entry for an authenticated client. */
	RankTable.Entry asEntry(Hello proved) throws IOException {
		InetAddress remote = this.connection.remote().getAddress();
		return new RankTable.Entry(proved, remote.isLoopbackAddress(),
				RendezvousAddress.text(this.connection.local().getAddress()));
	}

	/** The client's address for a log line. */
	String describe() {
		try {
			return String.valueOf(this.connection.remote());
		}
		catch (IOException ex) {
			return "a closed connection";
		}
	}

}
