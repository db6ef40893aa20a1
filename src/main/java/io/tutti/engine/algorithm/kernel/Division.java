package io.tutti.engine.algorithm.kernel;

/**
 * Divides a block of elements of one type by an integer, in place: the last step of an
 * average.
 */
@FunctionalInterface
interface Division {

	/**
	 * Divides every element.
	 * @param target address of the block
	 * @param bytes size of the block, whole elements
	 * @param divisor at least 1
	 */
	void divide(long target, long bytes, int divisor);

}
