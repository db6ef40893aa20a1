package io.tutti.engine.transport;

import java.io.IOException;
import java.util.BitSet;

/**
 * The connections that carry one group's messages. A rank connects to a peer when it
 * first sends to it, and accepts connections at any time. Used under one lock, but for
 * {@link #sleep} and {@link #wake}.
 */
public interface Connections extends AutoCloseable {

	/** Receives new connections. */
	interface Handler {

		/** A connection is established, by whichever side. */
		void arrived(int peer, ByteStream stream);

		/**
		 * This rank could not connect to a peer.
		 * @param cause a {@link io.tutti.engine.spi.LocalFaultException} if this rank is
		 * at fault; the peer is otherwise
		 */
		void failed(int peer, IOException cause);

	}

	/** Begins to connect to a rank of the group; {@link #poll} delivers the outcome. */
	void dial(int peer);

	/** Delivers the connections established since the last call. */
	boolean poll(Handler handler);

	/**
	 * Operations wait for these ranks: connections to one of them whose host no longer
	 * answers fail. Called every few milliseconds during a wait.
	 */
	default void awaitPeers(BitSet peers) {
	}

	/**
	 * Sets what {@link #sleep} waits for: any input, or room to write.
	 * @param awaited the rank that matters most, or any negative number
	 */
	void prepareSleep(int awaited);

	/** Sleeps until something may move, at most that long; one thread at a time. */
	void sleep(long maxNanos);

	/** Ends the sleep, if any. Called from any thread. */
	void wake();

	/**
	 * Tells the peers that sends of this rank end although their messages may not have
	 * been received: their callers may change buffers that peers still read with
	 * {@link ByteStream#copyFromPeer}.
	 */
	default void announceFailure() {
	}

	@Override
	void close();

}
