package io.tutti;

import java.util.List;

/**
 * A message does not fit the receive that it was matched with: it is larger than the
 * buffer or of another type. The message is dropped, the sender is not affected, and the
 * group stays usable.
 */
public final class MessageMismatchException extends IllegalArgumentException implements Failure.Origin {

	private static final long serialVersionUID = 1L;

	/** The rank that received the message, among all ranks of the job. */
	private final int rank;

	/** Number of ranks of the job. */
	private final int worldSize;

	/** Name of the group. */
	private final String group;

	/** The rank that sent the message. */
	private final int source;

	/** The rank that sent the message, among all ranks of the job. */
	private final int peer;

	/** The message's tag. */
	private final int tag;

	/** Size of the message in bytes, -1 if not known. */
	private final long bytes;

	/**
	 * The receive that a message does not fit.
	 *
	 * @param rank the rank that receives, among all ranks of the job
	 * @param worldSize number of ranks of the job
	 * @param group name of the group
	 * @param peer the rank that sent the message, among all ranks of the job
	 * @param type element type of the receive
	 * @param room size of the receive buffer in bytes
	 */
	public record Receive(int rank, int worldSize, String group, int peer, DataType type, long room) {
	}

	/**
	 * For a message whose size is known.
	 * @param source the rank of the group that sent the message
	 * @param tag its tag
	 * @param sent its element type
	 * @param bytes its size
	 * @param receive the receive that it does not fit
	 */
	public MessageMismatchException(int source, int tag, DataType sent, long bytes, Receive receive) {
		this(source, tag, bytes, receive, " is " + bytes + " bytes of " + sent + "; the receive buffer takes at most "
				+ receive.room() + " bytes of " + receive.type());
	}

	/**
	 * For a message that is too large but whose exact size is not known.
	 * @param source the rank of the group that sent the message
	 * @param tag its tag
	 * @param receive the receive that it does not fit
	 */
	public MessageMismatchException(int source, int tag, Receive receive) {
		this(source, tag, -1, receive, " is larger than the receive buffer, which takes at most " + receive.room()
				+ " bytes of " + receive.type());
	}

	private MessageMismatchException(int source, int tag, long bytes, Receive receive, String what) {
		super("rank " + receive.rank() + ": group " + receive.group() + ": the message from rank " + receive.peer()
				+ " with tag " + tag + what
				+ ". The message is dropped, and the group stays usable: receive it with the type"
				+ " that is sent, into a buffer with room for it; probe() tells its size");
		this.rank = receive.rank();
		this.worldSize = receive.worldSize();
		this.group = receive.group();
		this.source = source;
		this.peer = receive.peer();
		this.tag = tag;
		this.bytes = bytes;
	}

	/**
	 * The rank that received the message, among all ranks of the job.
	 * @return the rank that received the message, among all ranks of the job
	 */
	@Override
	public int rank() {
		return this.rank;
	}

	/**
	 * Number of ranks of the job.
	 * @return number of ranks of the job
	 */
	@Override
	public int worldSize() {
		return this.worldSize;
	}

	/**
	 * The name of the group in which the message was sent.
	 * @return the name of the group in which the message was sent
	 */
	@Override
	public String group() {
		return this.group;
	}

	/**
	 * The rank, among all ranks of the job, that sent the message.
	 * @return the one rank that sent the message
	 */
	@Override
	public List<Integer> peers() {
		return List.of(this.peer);
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
