package io.tutti.engine.p2p;

import java.lang.foreign.MemorySegment;

import org.jspecify.annotations.Nullable;

/**
 * One frame on its way out, with the bytes that follow it.
 */
final class SendDescriptor {

	int kind;

	int type;

	int tag;

	/** Size of the message. */
	long bytes;

	long id;

	/**
	 * Where the bytes that follow are: an offset in a buffer on the heap, if they are
	 * there.
	 */
	long address;

	@Nullable MemorySegment heap;

	/** How many bytes follow: 0 where the frame says it all. */
	long body;

	/**
	 * What is done when the last byte has left; {@code null} if its caller has gone on.
	 */
	@Nullable Operation operation;

	/** Holds the bytes when the caller has gone on. */
	@Nullable UnexpectedMessage parcel;

	/** Whose account those bytes are on. */
	@Nullable PeerChannel keeper;

	@Nullable SendDescriptor next;

}
