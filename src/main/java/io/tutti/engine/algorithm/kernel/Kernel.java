package io.tutti.engine.algorithm.kernel;

/**
 * One operator on one element type. Combines two blocks of elements into a third.
 */
@FunctionalInterface
interface Kernel {

	/**
	 * Combines the elements at {@code left} and {@code right}.
	 * @param target address of the result; may equal {@code left} or {@code right}, must
	 * not overlap them otherwise
	 * @param left address of the left operands
	 * @param right address of the right operands
	 * @param bytes size of each block, whole elements
	 */
	void combine(long target, long left, long right, long bytes);

}
