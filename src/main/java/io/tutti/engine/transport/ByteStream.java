package io.tutti.engine.transport;

import java.io.IOException;

/**
 * Plain bytes to and from one peer, without blocking and without meaning.
 */
public interface ByteStream {

	/**
	 * Writes as many bytes as go now.
	 * @return how many, 0 if none
	 */
	long write(long address, long bytes) throws IOException;

	/**
	 * Reads as many bytes as are there now.
	 * @return how many, 0 if none
	 * @throws java.io.EOFException if the peer has closed its side
	 */
	long read(long address, long bytes) throws IOException;

	/**
	 * Tells whether nothing is read any more for the time being, so that nobody need be
	 * woken for what comes.
	 */
	default void pauseReading(boolean paused) {
	}

	/**
	 * Up to this many bytes it costs less to copy them together and move them at once
	 * than to move them on their own.
	 */
	default int smallBytes() {
		return 8 * 1024;
	}

}
