package io.tutti.service.rest;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;

import io.tutti.Collective;
import io.tutti.DataType;
import io.tutti.ReduceOp;
import io.tutti.engine.spi.CallSignature;
import io.tutti.engine.spi.Sha256;

/**
 * A collective that a process beside this rank requests, with the sizes of this rank's
 * body and answer.
 *
 * @param collective the collective
 * @param type element type
 * @param op operator; {@link ReduceOp#SUM} where the collective has none
 * @param root root rank; 0 where the collective has none
 * @param rank this rank
 * @param worldSize ranks that take part
 */
record LabelledCall(Collective collective, DataType type, ReduceOp op, int root, int rank, int worldSize) {

	/** The root determines the count; this rank accepts any. */
	private static final long ANY_COUNT = -1;

	/** Whether this rank contributes a body. */
	boolean sendsBody() {
		return switch (this.collective) {
			case BROADCAST, SCATTER -> this.rank == this.root;
			case BARRIER -> false;
			case ALL_REDUCE, REDUCE, ALL_GATHER, REDUCE_SCATTER, GATHER, ALL_TO_ALL, SCAN, EXCLUSIVE_SCAN -> true;
		};
	}

	/**
	 * The signature that the ranks must agree on.
	 * @param bodyBytes length of this rank's body
	 * @throws ProblemException if the length is not valid for this call
	 */
	CallSignature signature(long bodyBytes) {
		if (!sendsBody()) {
			requireEmpty(bodyBytes);
			return signatureOf((this.collective == Collective.BARRIER) ? 0 : ANY_COUNT);
		}
		long unit = (long) this.type.bytes() * (splitsBody() ? this.worldSize : 1);
		if (bodyBytes % unit != 0) {
			throw ProblemException.invalidArgument("the body must consist of whole " + this.type + " elements"
					+ (splitsBody() ? ", the same number for each of " + this.worldSize + " ranks" : "")
					+ ": a multiple of " + unit + " bytes, got " + bodyBytes);
		}
		return signatureOf(bodyBytes / unit);
	}

	/** Bytes of one part of {@code count} elements. */
	long partBytes(long count) {
		return count * this.type.bytes();
	}

	/** Bytes of this rank's answer. */
	long answerBytes(long count) {
		return switch (this.collective) {
			case ALL_REDUCE, BROADCAST, REDUCE_SCATTER, SCATTER, SCAN -> partBytes(count);
			case EXCLUSIVE_SCAN -> (this.rank > 0) ? partBytes(count) : 0;
			case ALL_GATHER, ALL_TO_ALL -> partBytes(count) * this.worldSize;
			case REDUCE -> (this.rank == this.root) ? partBytes(count) : 0;
			case GATHER -> (this.rank == this.root) ? partBytes(count) * this.worldSize : 0;
			case BARRIER -> 0;
		};
	}

	/**
	 * Bytes of the largest answer of any rank, so that every rank decides alike whether
	 * it fits; 0 if this rank does not know the count.
	 */
	long largestAnswerBytes(long count) {
		return switch (this.collective) {
			case ALL_REDUCE, BROADCAST, REDUCE, REDUCE_SCATTER, SCATTER, SCAN, EXCLUSIVE_SCAN ->
				partBytes(Math.max(0, count));
			case ALL_GATHER, GATHER, ALL_TO_ALL -> partBytes(count) * this.worldSize;
			case BARRIER -> 0;
		};
	}

	/** SHA-256 of this call and its body, which identifies a repeated call. */
	byte[] digest(MemorySegment body) {
		MessageDigest digest = digest();
		digest.update(body.asByteBuffer());
		return digest.digest();
	}

	/** The same digest, to which the body is still to be added. */
	MessageDigest digest() {
		MessageDigest digest = Sha256.newDigest();
		digest.update(toString().getBytes(StandardCharsets.UTF_8));
		return digest;
	}

	private boolean splitsBody() {
		return switch (this.collective) {
			case REDUCE_SCATTER, SCATTER, ALL_TO_ALL -> true;
			case ALL_REDUCE, REDUCE, BROADCAST, ALL_GATHER, GATHER, BARRIER, SCAN, EXCLUSIVE_SCAN -> false;
		};
	}

	private void requireEmpty(long bodyBytes) {
		if (bodyBytes > 0) {
			throw ProblemException.invalidArgument((this.collective == Collective.BARRIER)
					? "a barrier takes an empty body, got " + bodyBytes + " bytes"
					: "only the root, rank " + this.root + ", sends elements to " + this.collective + "; rank "
							+ this.rank + " must send an empty body, got " + bodyBytes + " bytes");
		}
	}

	private CallSignature signatureOf(long count) {
		return new CallSignature(0, this.collective, count, 0, this.type, this.op, this.root);
	}

}
