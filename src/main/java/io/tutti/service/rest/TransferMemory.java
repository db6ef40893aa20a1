package io.tutti.service.rest;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.SocketTimeoutException;

import io.tutti.engine.spi.Deadline;

/**
 * Memory outside of the heap for one call's bytes, which are those of the wire: little
 * endian, as the elements of this machine are. Lies within what the call has reserved;
 * the body's is given back when closed, the answer's when the answer is released.
 */
final class TransferMemory implements AutoCloseable {

	/** Vectors like it. */
	static final long ALIGNMENT = 64;

	private static final int CHUNK_BYTES = 64 << 10;

	private static final long FIRST_BYTES = 1 << 20;

	private final long maxBytes;

	private final TransferBudget.Reservation reservation;

	private Arena body = Arena.ofShared();

	TransferMemory(long maxBytes, TransferBudget.Reservation reservation) {
		this.maxBytes = maxBytes;
		this.reservation = reservation;
	}

	/** An answer of zeros. */
	Answer allocate(long bytes) {
		requireRoom(bytes, this.maxBytes);
		return new Answer(bytes, this.reservation.split(bytes));
	}

	/**
	 * Checks the length of an answer.
	 * @throws BodyTooLargeException if it is too large
	 */
	static void requireRoom(long answerBytes, long maxBytes) {
		if (answerBytes > maxBytes) {
			throw new BodyTooLargeException("an answer would have " + answerBytes + " bytes", maxBytes);
		}
	}

	/**
	 * Checks the length of a body.
	 * @param announcedBytes its length, -1 if that was not said
	 * @throws BodyTooLargeException if it is too large
	 */
	static void requireBody(long announcedBytes, long maxBytes) {
		if (announcedBytes > maxBytes) {
			throw new BodyTooLargeException("the body has " + announcedBytes + " bytes", maxBytes);
		}
	}

	/**
	 * Reads a body to its end.
	 * @param announcedBytes its length, -1 if that was not said
	 * @throws BodyTooLargeException as soon as it turns out to be too large
	 * @throws SocketTimeoutException if it comes too slowly
	 */
	MemorySegment read(InputStream in, long announcedBytes, Deadline deadline) throws IOException {
		MemorySegment memory = (announcedBytes > 0) ? this.body.allocate(announcedBytes, ALIGNMENT)
				: MemorySegment.NULL;
		long filled = 0;
		byte[] chunk = new byte[CHUNK_BYTES];
		for (int read = in.read(chunk); read >= 0; read = in.read(chunk)) {
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

	/** Both lie in memory for a moment, within what an answer will take later. */
	private MemorySegment grown(MemorySegment old, long filled, long wanted) {
		Arena larger = Arena.ofShared();
		MemorySegment memory = larger.allocate(Math.min(wanted, this.maxBytes), ALIGNMENT);
		MemorySegment.copy(old, 0, memory, 0, filled);
		this.body.close();
		this.body = larger;
		return memory;
	}

	@Override
	public void close() {
		this.body.close();
		this.reservation.close();
	}

}
