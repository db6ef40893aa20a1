package io.tutti.engine.backend.nccl;

import io.tutti.ProcessGroup;
import io.tutti.engine.dispatch.DefaultProcessGroup;

/**
 * NCCL's view of a process group: its communicator and its stream. Calls on them are
 * ordered on the stream only, not with the group's own calls, and are not compared
 * between ranks; complete them by {@link #synchronize} before the group's next call. The
 * group owns the communicator and closes it.
 */
public final class NcclGroup {

	private final ProcessGroup group;

	private final RankCommunicator communicator;

	private NcclGroup(ProcessGroup group, RankCommunicator communicator) {
		this.group = group;
		this.communicator = communicator;
	}

	/**
	 * The view of a group.
	 * @param group a group on the backend {@code nccl}, or a proxy for one
	 * @return its view
	 * @throws UnsupportedOperationException if the group's backend is not NCCL
	 */
	public static NcclGroup of(ProcessGroup group) {
		// A proxy for the group, such as the bean of Spring, forwards this call to it.
		ProcessGroup own = group.withTimeout(group.timeout());
		if (own instanceof DefaultProcessGroup formed && formed.groupBackend() instanceof NcclGroupBackend backend) {
			return new NcclGroup(own, backend.communicator());
		}
		throw new UnsupportedOperationException("group " + group.name() + " runs on " + group.backend()
				+ ", which has no NCCL communicator. Start with the profile nccl");
	}

	/**
	 * The group's communicator, open as long as the group.
	 * @return the communicator
	 */
	public RankCommunicator communicator() {
		return this.communicator;
	}

	/**
	 * {@return the handle of the stream on which the group's device calls run}
	 */
	public long stream() {
		return this.communicator.operations().stream();
	}

	/**
	 * Calls on the group's stream, each limited by the group's timeout.
	 * @return the operations
	 */
	public StreamOperations operations() {
		return this.communicator.operations().within(this.group.timeout());
	}

	/**
	 * Calls on a caller's stream, each limited by the group's timeout.
	 * @param stream handle of a CUDA stream of this rank's device, which the caller owns
	 * @return the operations
	 */
	public StreamOperations operations(long stream) {
		return this.communicator.operations(stream).within(this.group.timeout());
	}

	/**
	 * Waits until all work on the group's stream is complete.
	 * @throws NcclException if the communicator failed, or if the group's timeout passed,
	 * which aborts it
	 */
	public void synchronize() {
		operations().synchronize();
	}

}
