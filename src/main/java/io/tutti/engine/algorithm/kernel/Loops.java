package io.tutti.engine.algorithm.kernel;

/**
 * The arithmetic loops of one element type. Each loop is a separate method, so that the
 * compiler sees one operator per loop and profiles are not shared.
 *
 * @param sum left plus right
 * @param product left times right
 * @param minimum the smaller one; NaN if either is
 * @param maximum the larger one; NaN if either is
 * @param quotient the last step of an average
 */
record Loops(Kernel sum, Kernel product, Kernel minimum, Kernel maximum, Division quotient) {

	/**
	 * Uses these loops for the body of a block and others for the tail.
	 * @param tail loops for any number of elements
	 * @param stepBytes these loops process multiples of it; a power of two
	 */
	Loops withTail(Loops tail, long stepBytes) {
		return new Loops(split(this.sum, tail.sum, stepBytes), split(this.product, tail.product, stepBytes),
				split(this.minimum, tail.minimum, stepBytes), split(this.maximum, tail.maximum, stepBytes),
				split(this.quotient, tail.quotient, stepBytes));
	}

	private static Kernel split(Kernel body, Kernel tail, long stepBytes) {
		return (target, left, right, bytes) -> {
			long bodyBytes = bytes & -stepBytes;
			if (bodyBytes != 0) {
				body.combine(target, left, right, bodyBytes);
			}
			if (bodyBytes != bytes) {
				tail.combine(target + bodyBytes, left + bodyBytes, right + bodyBytes, bytes - bodyBytes);
			}
		};
	}

	private static Division split(Division body, Division tail, long stepBytes) {
		return (target, bytes, divisor) -> {
			long bodyBytes = bytes & -stepBytes;
			if (bodyBytes != 0) {
				body.divide(target, bodyBytes, divisor);
			}
			if (bodyBytes != bytes) {
				tail.divide(target + bodyBytes, bytes - bodyBytes, divisor);
			}
		};
	}

}
