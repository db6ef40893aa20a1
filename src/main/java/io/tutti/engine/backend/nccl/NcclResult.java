package io.tutti.engine.backend.nccl;

/**
 * NCCL's result codes, in order.
 */
public enum NcclResult {

	/** Done or queued. */
	SUCCESS("success", ""),
	/** CUDA failed. */
	UNHANDLED_CUDA_ERROR("CUDA failed",
			"Look for an earlier error on this device, and run once with CUDA_LAUNCH_BLOCKING=1"),
	/** The system failed: a socket, memory, a file. */
	SYSTEM_ERROR("a system call failed",
			"Check the network interface (NCCL_SOCKET_IFNAME), the size of /dev/shm and the limit of locked memory"),
	/** NCCL failed. */
	INTERNAL_ERROR("NCCL reported an internal error", "Run once with NCCL_DEBUG=INFO and read the last lines"),
	/** An argument is wrong. */
	INVALID_ARGUMENT("an argument is wrong", "Run once with NCCL_DEBUG=WARN, which names it"),
	/** The ranks' calls or devices are inconsistent. */
	INVALID_USAGE("the calls or devices of the ranks are inconsistent",
			"Each rank needs a device of its own; two ranks on one device need a distinct NCCL_HOSTID each"),
	/** Another rank failed or was lost. */
	REMOTE_ERROR("another rank failed or was lost", "Look at the rank that ended first"),
	/** In progress. */
	IN_PROGRESS("in progress", "");

	private static final NcclResult[] VALUES = values();

	private final String description;

	private final String hint;

	NcclResult(String description, String hint) {
		this.description = description;
		this.hint = hint;
	}

	/** The result for a code; an unknown code is an internal error. */
	static NcclResult of(int code) {
		return (code >= 0 && code < VALUES.length) ? VALUES[code] : INTERNAL_ERROR;
	}

	/**
	 * {@return the action to take, as a sentence without a full stop}
	 */
	public String hint() {
		return this.hint;
	}

	@Override
	public String toString() {
		return this.description;
	}

}
