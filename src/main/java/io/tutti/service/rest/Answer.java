package io.tutti.service.rest;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The answer of a collective, in reference-counted memory. The requests that write it and
 * the round that may be repeated each hold a reference.
 */
final class Answer implements NamedRounds.Held {

	private static final int CHUNK_BYTES = 64 << 10;

	private final Arena arena = Arena.ofShared();

	private final TransferBudget.Reservation reservation;

	private final MemorySegment memory;

	private int holders = 1;

	/**
	 * Creates a zeroed answer; its creator holds the first reference.
	 * @param call what the call has reserved, of which the answer takes its part
	 */
	Answer(long bytes, TransferBudget.Reservation call) {
		this.memory = this.arena.allocate(bytes, TransferMemory.ALIGNMENT);
		this.reservation = call.split(bytes);
	}

	MemorySegment memory() {
		return this.memory;
	}

	void write(OutputStream out) throws IOException {
		byte[] chunk = new byte[(int) Math.min(CHUNK_BYTES, this.memory.byteSize())];
		for (long at = 0; at < this.memory.byteSize(); at += chunk.length) {
			int length = (int) Math.min(chunk.length, this.memory.byteSize() - at);
			MemorySegment.copy(this.memory, at, MemorySegment.ofArray(chunk), 0, length);
			out.write(chunk, 0, length);
		}
	}

	@Override
	public synchronized void hold() {
		this.holders++;
	}

	@Override
	public synchronized void release() {
		if (--this.holders == 0) {
			this.arena.close();
			this.reservation.close();
		}
	}

}
