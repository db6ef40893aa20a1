package io.tutti.engine.transport.simulated;

import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import io.tutti.engine.spi.NativeMemory;

/**
 * A one-way byte ring from one rank to another, with one writing and one reading thread.
 */
final class Pipe {

	private final int capacity;

	private final int mask;

	private final byte[] ring;

	private volatile long written;

	private volatile long taken;

	private volatile boolean closed;

	/**
	 * An empty pipe.
	 * @param capacity a power of two
	 */
	Pipe(int capacity) {
		this.capacity = capacity;
		this.mask = capacity - 1;
		this.ring = new byte[capacity];
	}

	long write(long address, long bytes) throws IOException {
		if (this.closed) {
			throw new IOException("closed by the peer");
		}
		long position = this.written;
		int count = (int) Math.min(bytes, this.capacity - (position - this.taken));
		int start = (int) (position & this.mask);
		int first = Math.min(count, this.capacity - start);
		copyIn(address, start, first);
		copyIn(address + first, 0, count - first);
		this.written = position + count;
		return count;
	}

	long read(long address, long bytes) throws IOException {
		boolean ended = this.closed;
		long position = this.taken;
		int count = (int) Math.min(bytes, this.written - position);
		if (count == 0 && bytes > 0 && ended) {
			throw new EOFException("closed by the peer");
		}
		int start = (int) (position & this.mask);
		int first = Math.min(count, this.capacity - start);
		copyOut(address, start, first);
		copyOut(address + first, 0, count - first);
		this.taken = position + count;
		return count;
	}

	void close() {
		this.closed = true;
	}

	private void copyIn(long address, int start, int count) {
		MemorySegment.copy(NativeMemory.ALL, ValueLayout.JAVA_BYTE, address, this.ring, start, count);
	}

	private void copyOut(long address, int start, int count) {
		MemorySegment.copy(this.ring, start, NativeMemory.ALL, ValueLayout.JAVA_BYTE, address, count);
	}

}
