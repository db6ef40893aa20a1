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
	 * What the peer passes to {@link #copyFromPeer} to read memory of this process.
	 * @return 0 if it cannot; adding a number to any other reference moves the place by
	 * as many bytes
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

}
