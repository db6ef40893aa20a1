package io.tutti.service.rest;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.SocketTimeoutException;

import io.tutti.engine.spi.Deadline;

/**
 * Off-heap memory for the body and the answer of one call, in wire format: little endian,
 * which is also this machine's byte order. Stays within the call's reservation. Closing
 * frees the memory of the body; releasing the answer frees that of the answer.
 */
final class TransferMemory implements AutoCloseable {

	/** Alignment for vector instructions. */
	static final long ALIGNMENT = 64;

	private static final int CHUNK_BYTES = 64 << 10;

	private static final long FIRST_BYTES = 1 << 20;

	private final long maxBytes;

	private final TransferBudget.Reservation reservation;

	private Arena body = Arena.ofShared();

	private MemorySegment elements = MemorySegment.NULL;

	private long filled;

	/** Receives a body in parts. */
	interface Parts {

		void add(byte[] part, int offset, int length);

	}

	TransferMemory(long maxBytes, TransferBudget.Reservation reservation) {
		this.maxBytes = maxBytes;
		this.reservation = reservation;
	}

	/** Allocates a zeroed answer. */
	Answer allocate(long bytes) {
		requireRoom(bytes, this.maxBytes);
		return new Answer(bytes, this.reservation);
	}

	/**
	 * Checks the length of an answer.
	 * @throws BodyTooLargeException if it is too large
	 */
	static void requireRoom(long answerBytes, long maxBytes) {
		if (answerBytes > maxBytes) {
			throw new BodyTooLargeException("a response would have " + answerBytes + " bytes", maxBytes);
		}
	}

	/**
	 * Checks the length of a body.
	 * @param announcedBytes its length, -1 if unknown
	 * @throws BodyTooLargeException if it is too large
	 */
	static void requireBody(long announcedBytes, long maxBytes) {
		if (announcedBytes > maxBytes) {
			throw new BodyTooLargeException("the body has " + announcedBytes + " bytes", maxBytes);
		}
	}

	/**
	 * Reads a body to its end.
	 * @param announcedBytes its length, -1 if unknown
	 * @throws BodyTooLargeException as soon as it exceeds the limit
	 * @throws SocketTimeoutException if the deadline passes before the body is complete
	 */
	MemorySegment read(InputStream in, long announcedBytes, Deadline deadline) throws IOException {
		if (announcedBytes > 0) {
			this.elements = this.body.allocate(announcedBytes, ALIGNMENT);
		}
		read(in, this.maxBytes, deadline, this::append);
		return (this.filled < this.elements.byteSize()) ? resized(this.filled) : this.elements;
	}

	/**
	 * Reads a body to its end, part by part.
	 * @throws BodyTooLargeException as soon as it exceeds the limit
	 * @throws SocketTimeoutException if the deadline passes before the body is complete
	 */
	static void read(InputStream in, long maxBytes, Deadline deadline, Parts parts) throws IOException {
		long total = 0;
		byte[] chunk = new byte[CHUNK_BYTES];
		for (int read = in.read(chunk); read >= 0; read = in.read(chunk)) {
			total += read;
			if (total > maxBytes) {
				throw new BodyTooLargeException("the body has more than " + maxBytes + " bytes", maxBytes);
			}
			parts.add(chunk, 0, read);
			if (deadline.expired()) {
				throw new SocketTimeoutException("the body was incomplete after " + deadline.timeout());
			}
		}
	}

	private void append(byte[] chunk, int offset, int length) {
		if (this.filled + length > this.elements.byteSize()) {
			this.elements = resized(Math.max(this.filled + length, Math.max(FIRST_BYTES, 2 * this.filled)));
		}
		MemorySegment.copy(MemorySegment.ofArray(chunk), offset, this.elements, this.filled, length);
		this.filled += length;
	}

	/** Gives back what is reserved beyond the length of body and answer. */
	void shrink(long bytes) {
		this.reservation.shrink(bytes);
	}

	/** Old and new memory coexist during the copy, within the answer's share. */
	private MemorySegment resized(long wanted) {
		Arena other = Arena.ofShared();
		MemorySegment memory = other.allocate(Math.min(wanted, this.maxBytes), ALIGNMENT);
		MemorySegment.copy(this.elements, 0, memory, 0, this.filled);
		this.body.close();
		this.body = other;
		return memory;
	}

	@Override
	public void close() {
		this.body.close();
		this.reservation.close();
	}

}
