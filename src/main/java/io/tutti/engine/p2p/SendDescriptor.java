package io.tutti.engine.p2p;

import java.lang.foreign.MemorySegment;

import org.jspecify.annotations.Nullable;

/**
 * One frame that waits to be sent, with the bytes that follow it.
 */
final class SendDescriptor {

	int kind;

	int type;

	int tag;

	/** Size of the message. */
	long bytes;

	long id;

	/** Address of the bytes that follow, or offset in a heap buffer. */
	long address;

	/** Address of an announced message in this process, 0 for one on the heap. */
	long source;

	/** How many bytes follow that are not written yet; 0 for a frame alone. */
	long left;

	/** Is done when the last byte is sent; {@code null} if its caller has returned. */
	@Nullable MessageOperation operation;

	/** Holds the bytes once the caller has returned. */
	@Nullable IncomingMessage copy;

	/** The bytes of a send follow, from its caller's buffer. */
	void carry(MessageOperation send) {
		this.address = send.address;
		this.left = send.bytes;
		this.operation = send;
	}

	/** The caller's buffer on the heap, if the next bytes are there. */
	@Nullable MemorySegment heap() {
		return (this.operation != null) ? this.operation.heap : null;
	}

	/** Copies the next bytes to native memory. */
	void moveTo(long target, long bytes) {
		HeapTransfer.copy(heap(), this.address, null, target, bytes);
		this.address += bytes;
		this.left -= bytes;
	}

}
