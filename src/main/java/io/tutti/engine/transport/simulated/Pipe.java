package io.tutti.engine.transport.simulated;

import java.io.EOFException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import io.tutti.engine.NativeMemory;

/**
 * Bytes one way from one rank to another: a ring that one thread fills and one empties.
 */
final class Pipe {

	private static final int CAPACITY = 64 * 1024;

	private static final int MASK = CAPACITY - 1;

	private final byte[] ring = new byte[CAPACITY];

	private volatile long written;

	private volatile long taken;

	private volatile boolean closed;

	long write(long address, long bytes) throws IOException {
		if (this.closed) {
			throw new IOException("the peer is gone");
		}
		long position = this.written;
		int count = (int) Math.min(bytes, CAPACITY - (position - this.taken));
		int start = (int) (position & MASK);
		int first = Math.min(count, CAPACITY - start);
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
		int start = (int) (position & MASK);
		int first = Math.min(count, CAPACITY - start);
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
