package io.tutti.engine.spi;

import io.tutti.Collective;
import io.tutti.DataType;
import io.tutti.ReduceOp;

/**
 * The values that ranks must agree on for each call of a group.
 *
 * @param sequence sequence number in the group's issue order
 * @param collective the collective
 * @param count elements that all ranks agree on, see {@link Call#count()}
 * @param countsDigest digest of the counts by rank of an uneven call, or of the sizes of
 * several buffers; 0 for an even call on one buffer
 * @param type element type
 * @param op operator
 * @param root root rank; negative for an all-gather of the engine, see {@link Agreement}
 */
public record CallSignature(long sequence, Collective collective, long count, int countsDigest, DataType type,
		ReduceOp op, int root) {

	/** The signature of a call. */
	public static CallSignature of(Call call) {
		return new CallSignature(call.sequence(), call.collective(), call.count(), call.countsDigest(), call.type(),
				call.op(), call.root());
	}

	/** The same call with another count. */
	public CallSignature withCount(long elements) {
		return new CallSignature(this.sequence, this.collective, elements, this.countsDigest, this.type, this.op,
				this.root);
	}

	/** The call in words, such as {@code all-reduce #7 (count 1024, float32, sum)}. */
	@Override
	public String toString() {
		if (this.root < 0) {
			return Agreement.ofMarkerRoot(this.root) + " #" + this.sequence;
		}
		String call = this.collective + " #" + this.sequence;
		return switch (this.collective) {
			case ALL_REDUCE, REDUCE_SCATTER, SCAN, EXCLUSIVE_SCAN ->
				call + " (" + counts() + ", " + this.type + ", " + this.op + ")";
			case REDUCE -> call + " (" + counts() + ", " + this.type + ", " + this.op + ", root " + this.root + ")";
			case BROADCAST, GATHER, SCATTER -> call + " (" + counts() + ", " + this.type + ", root " + this.root + ")";
			case ALL_GATHER, ALL_TO_ALL -> call + " (" + counts() + ", " + this.type + ")";
			case BARRIER -> call;
		};
	}

	private String counts() {
		if (this.countsDigest == 0) {
			return "count " + this.count;
		}
		String digest = Integer.toHexString(this.countsDigest);
		return switch (this.collective) {
			case ALL_TO_ALL -> "counts by rank";
			// A list takes more than one call, unless all its buffers are small.
			case ALL_REDUCE, BROADCAST ->
				"count " + this.count + " of several buffers, digest of all their sizes " + digest;
			default -> "counts by rank, " + this.count + " in all, digest " + digest;
		};
	}

}
