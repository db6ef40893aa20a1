package io.tutti;

/**
 * A message does not fit the receive that it was matched with: it is larger than the
 * buffer or of another type. The message is dropped, the sender is not affected, and the
 * group stays usable.
 */
public final class MessageMismatchException extends IllegalArgumentException {

	private static final long serialVersionUID = 1L;

	/** The rank that sent the message. */
	private final int source;

	/** The message's tag. */
	private final int tag;

	/** Size of the message in bytes, -1 if not known. */
	private final long bytes;

	/**
	 * For a message whose size is known.
	 * @param source the rank of the group that sent the message
	 * @param tag its tag
	 * @param sent its element type
	 * @param bytes its size
	 * @param expected the element type of the receive
	 * @param room size of the receive buffer in bytes
	 */
	public MessageMismatchException(int source, int tag, DataType sent, long bytes, DataType expected, long room) {
		super("the message from rank " + source + " with tag " + tag + " is " + bytes + " bytes of " + sent
				+ "; the receive buffer takes at most " + room + " bytes of " + expected);
		this.source = source;
		this.tag = tag;
		this.bytes = bytes;
	}

	/**
	 * For a message that is too large but whose exact size is not known.
	 * @param source the rank of the group that sent the message
	 * @param tag its tag
	 * @param expected the element type of the receive
	 * @param room size of the receive buffer in bytes
	 */
	public MessageMismatchException(int source, int tag, DataType expected, long room) {
		super("the message from rank " + source + " with tag " + tag
				+ " is larger than the receive buffer, which takes at most " + room + " bytes of " + expected);
		this.source = source;
		this.tag = tag;
		this.bytes = -1;
	}

	/**
	 * The rank of the group that sent the message.
	 * @return the rank of the group that sent the message
	 */
	public int source() {
		return this.source;
	}

	/**
	 * The message's tag.
	 * @return the message's tag
	 */
	public int tag() {
		return this.tag;
	}

	/**
	 * The message's size in bytes, -1 if it is not known.
	 * @return the message's size in bytes, -1 if it is not known
	 */
	public long bytes() {
		return this.bytes;
	}

}
