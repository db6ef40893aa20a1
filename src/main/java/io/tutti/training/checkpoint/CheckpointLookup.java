package io.tutti.training.checkpoint;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

import io.tutti.DataType;
import io.tutti.ProcessGroup;

/**
 * Result of rank 0's check for a checkpoint, which rank 0 broadcasts to all ranks.
 *
 * @param kind kind of the result
 * @param content description of the checkpoint as JSON, or the reason for its rejection,
 * in UTF-8; empty if there is none
 */
record CheckpointLookup(Kind kind, byte[] content) {

	/** Kind of result. */
	enum Kind {

		/** There is no checkpoint. */
		ABSENT,
		/** A checkpoint of the same job, whose tensors follow. */
		PRESENT,
		/** A checkpoint that this job cannot continue from, or an unusable directory. */
		REJECTED

	}

	static final CheckpointLookup NOTHING = new CheckpointLookup(Kind.ABSENT, new byte[0]);

	/** Largest content: the limit of an array, less the padding to whole elements. */
	static final int MAX_BYTES = Integer.MAX_VALUE - 64;

	static CheckpointLookup rejected(String reason) {
		return new CheckpointLookup(Kind.REJECTED, reason.getBytes(StandardCharsets.UTF_8));
	}

	/** The content as text. */
	String text() {
		return new String(this.content, StandardCharsets.UTF_8);
	}

	/** Broadcasts rank 0's result to every rank. A collective call. */
	CheckpointLookup broadcast(ProcessGroup group) {
		int[] header = { this.kind.ordinal(), this.content.length };
		group.broadcast(MemorySegment.ofArray(header), DataType.INT32, 0);
		int length = header[1];
		if (length < 0 || length > MAX_BYTES) {
			throw new IllegalStateException("rank 0 announced a checkpoint of " + length + " bytes");
		}
		byte[] padded = Arrays.copyOf(this.content, (length + Integer.BYTES - 1) / Integer.BYTES * Integer.BYTES);
		if (length > 0) {
			group.broadcast(MemorySegment.ofArray(padded), DataType.INT32, 0);
		}
		return new CheckpointLookup(Kind.values()[header[0]], Arrays.copyOf(padded, length));
	}

}
