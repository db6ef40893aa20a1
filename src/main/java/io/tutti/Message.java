package io.tutti;

/**
 * A point-to-point message that was received.
 *
 * @param source the rank of the group that sent it
 * @param tag the tag it was sent with
 * @param count number of elements in it, of the type that the sender passed
 */
public record Message(int source, int tag, long count) {

	/**
	 * In place of a source: matches a message from any rank. An arithmetic error is
	 * unlikely to produce this value.
	 */
	public static final int ANY_SOURCE = Integer.MIN_VALUE;

	/** In place of a tag: matches a message with any tag. */
	public static final int ANY_TAG = Integer.MIN_VALUE;

}
