package io.tutti.engine.transport;

import java.io.IOException;

/**
 * A non-blocking stream of uninterpreted bytes to and from one peer.
 */
public interface ByteStream {

	/**
	 * Writes what the stream accepts now.
	 * @return the number of bytes written, may be 0
	 */
	long write(long address, long bytes) throws IOException;

	/**
	 * Reads bytes that have arrived.
	 * @return the number of bytes read, which may be 0, or fewer than have arrived
	 * @throws java.io.EOFException if the peer has closed its side
	 */
	long read(long address, long bytes) throws IOException;

	/** Nothing more is read: arriving bytes end no sleep. */
	default void endInput() {
	}

	/**
	 * Up to this size, copying bytes together and writing them at once costs less than
	 * writing them separately.
	 */
	default int smallBytes() {
		return 8 * 1024;
	}

	/**
	 * Largest message that takes less time if it is sent eagerly: without asking its
	 * receiver first.
	 */
	default int eagerBytes() {
		return 64 * 1024;
	}

	/**
	 * What the peer passes to {@link #copyFromPeer} to read memory of this process.
	 * @return 0 if it cannot, or if that takes longer; adding a number to any other
	 * reference moves the place by as many bytes
	 */
	default long reference(long address, long bytes) {
		return 0;
	}

	/**
	 * Copies bytes of the peer's memory to this process, at once.
	 * @param reference from the peer
	 * @throws IOException if there is no such memory, it cannot be read, the peer has
	 * ended, or messages of it have failed, so that its buffers may have changed
	 */
	default void copyFromPeer(long reference, long address, long bytes) throws IOException {
		throw new IOException("the peer's memory cannot be read");
	}

	/**
	 * Whether a message is to be copied by {@link #copyFromPeer} instead of being sent,
	 * since that takes less time.
	 * @param reference from the peer
	 */
	default boolean prefersCopy(long reference, long bytes) {
		return true;
	}

	/**
	 * An announced message has arrived.
	 * @param reference from the peer, 0 if it could only be sent
	 * @param copied whether it was copied by {@link #copyFromPeer}
	 * @param since {@link System#nanoTime} when its receiver asked for it, or began to
	 * copy it
	 */
	default void arrived(long reference, long bytes, boolean copied, long since) {
	}

}
