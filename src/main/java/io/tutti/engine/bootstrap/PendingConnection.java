package io.tutti.engine.bootstrap;

import java.io.IOException;
import java.net.InetAddress;

import io.tutti.engine.control.ControlConnection;
import io.tutti.engine.control.ControlMessage.Hello;
import io.tutti.engine.control.ControlMessage.Refused;
import org.jspecify.annotations.Nullable;

/**
 * One connection at rank 0: nobody at first, a rank once it has proved itself and got its
 * seat.
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

	/** The caller is a rank from now on. */
	void seat(Hello proved) {
		this.hello = proved;
		this.connection.trust();
	}

	/** Tells the caller why it is turned away; nothing it says after that counts. */
	void refuse(Refused refusal) {
		this.refused = true;
		this.connection.send(refusal);
		this.connection.finish();
	}

	boolean refused() {
		return this.refused;
	}

	/** The caller's rank, or -1 while it has none. */
	int rank() {
		return (this.hello != null) ? this.hello.rank() : NO_RANK;
	}

	/** What a seat holds of a caller that proved itself. */
	RankTable.Entry asEntry(Hello proved) throws IOException {
		InetAddress remote = this.connection.remote().getAddress();
		return new RankTable.Entry(proved, remote.isLoopbackAddress(),
				RendezvousAddress.text(this.connection.local().getAddress()));
	}

	/** Where the caller calls from, in words. */
	String describe() {
		try {
			return String.valueOf(this.connection.remote());
		}
		catch (IOException ex) {
			return "a closed connection";
		}
	}

}
