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
	 * Reads what has arrived.
	 * @return the number of bytes read, may be 0
	 * @throws java.io.EOFException if the peer has closed its side
	 */
	long read(long address, long bytes) throws IOException;

	/**
	 * Up to this size, copying bytes together and writing them at once costs less than
	 * writing them separately.
	 */
	default int smallBytes() {
		return 8 * 1024;
	}

	/**
	 * Whether this process can read the peer's memory, and the peer this process's: see
	 * {@link #copyFromPeer}.
	 */
	default boolean sharesMemory() {
		return false;
	}

	/**
	 * Copies bytes of the peer's memory to this process, at once.
	 * @param peerAddress an address in the peer's process
	 * @throws IOException if the peer has no such memory or has ended
	 */
	default void copyFromPeer(long peerAddress, long address, long bytes) throws IOException {
		throw new UnsupportedOperationException("the peer's memory cannot be read");
	}

}
