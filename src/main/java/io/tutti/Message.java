package io.tutti;

/**
 * A point-to-point message that was received.
 *
 * @param source the rank of the group that sent it
 * @param tag the tag it was sent with
 * @param count how many elements it held
 */
public record Message(int source, int tag, long count) {

	/**
	 * In place of a source: takes a message from any rank. Not a number that a slip in
	 * arithmetic comes to.
	 */
	public static final int ANY_SOURCE = Integer.MIN_VALUE;

	/** In place of a tag: takes a message of any tag. */
	public static final int ANY_TAG = Integer.MIN_VALUE;

}
