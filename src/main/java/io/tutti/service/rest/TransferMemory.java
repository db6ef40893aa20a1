package io.tutti.service.rest;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.SocketTimeoutException;

import io.tutti.engine.Deadline;

/**
 * Memory outside of the heap for one call's bytes, which are those of the wire: little
 * endian, as the elements of this machine are. Given back when closed.
 */
final class TransferMemory implements AutoCloseable {

	private static final int CHUNK_BYTES = 64 << 10;

	private static final long FIRST_BYTES = 1 << 20;

	/** Vectors like it. */
	private static final long ALIGNMENT = 64;

	private final Arena arena = Arena.ofShared();

	private final long maxBytes;

	TransferMemory(long maxBytes) {
		this.maxBytes = maxBytes;
	}

	/** Zeros. */
	MemorySegment allocate(long bytes) {
		requireRoom(bytes);
		return this.arena.allocate(bytes, ALIGNMENT);
	}

	/**
	 * Checks the length of an answer.
	 * @throws BodyTooLargeException if it is too large
	 */
	void requireRoom(long answerBytes) {
		if (answerBytes > this.maxBytes) {
			throw new BodyTooLargeException("an answer would have " + answerBytes + " bytes", this.maxBytes);
		}
	}

	/**
	 * Reads a body to its end; holds no more memory than about twice what has come.
	 * @param announcedBytes its length, -1 if that was not said
	 * @throws BodyTooLargeException as soon as it turns out to be too large
	 * @throws SocketTimeoutException if it comes too slowly
	 */
	MemorySegment read(InputStream body, long announcedBytes, Deadline deadline) throws IOException {
		if (announcedBytes > this.maxBytes) {
			throw new BodyTooLargeException("the body has " + announcedBytes + " bytes", this.maxBytes);
		}
		MemorySegment memory = MemorySegment.NULL;
		long filled = 0;
		byte[] chunk = new byte[CHUNK_BYTES];
		for (int read = body.read(chunk); read >= 0; read = body.read(chunk)) {
			if (filled + read > this.maxBytes) {
				throw new BodyTooLargeException("the body has more than " + this.maxBytes + " bytes", this.maxBytes);
			}
			if (filled + read > memory.byteSize()) {
				memory = grown(memory, filled, Math.max(filled + read, Math.max(FIRST_BYTES, 2 * filled)));
			}
			MemorySegment.copy(MemorySegment.ofArray(chunk), 0, memory, filled, read);
			filled += read;
			if (deadline.expired()) {
				throw new SocketTimeoutException("the body had not come whole after " + deadline.timeout());
			}
		}
		return memory.asSlice(0, filled);
	}

	private MemorySegment grown(MemorySegment old, long filled, long wanted) {
		MemorySegment larger = this.arena.allocate(Math.min(wanted, this.maxBytes), ALIGNMENT);
		MemorySegment.copy(old, 0, larger, 0, filled);
		return larger;
	}

	/** Writes an answer. */
	static void write(MemorySegment memory, OutputStream out) throws IOException {
		byte[] chunk = new byte[(int) Math.min(CHUNK_BYTES, memory.byteSize())];
		for (long at = 0; at < memory.byteSize(); at += chunk.length) {
			int length = (int) Math.min(chunk.length, memory.byteSize() - at);
			MemorySegment.copy(memory, at, MemorySegment.ofArray(chunk), 0, length);
			out.write(chunk, 0, length);
		}
	}

	@Override
	public void close() {
		this.arena.close();
	}

}
