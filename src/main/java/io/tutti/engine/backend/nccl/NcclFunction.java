package io.tutti.engine.backend.nccl;

/**
 * A function of NCCL that an installed library may lack. To call it all the same would
 * end the process, so each use asks first.
 */
public enum NcclFunction {

	/** Non-blocking creation of a communicator. */
	INIT_RANK_CONFIG("ncclCommInitRankConfig", "2.14"),
	/** An orderly end. */
	FINALIZE("ncclCommFinalize", "2.14"),
	/** An error's own words. */
	LAST_ERROR("ncclGetLastError", "2.13"),
	/** Operators with a factor. */
	PREMULTIPLIED_SUM("ncclRedOpCreatePreMulSum", "2.11"),
	/** Communicators within a communicator. */
	SPLIT("ncclCommSplit", "2.18"),
	/** The communicator of those who are left. */
	SHRINK("ncclCommShrink", "2.27"),
	/** Memory that the network and the fabric know. */
	MEM_ALLOC("ncclMemAlloc", "2.19"),
	/** Gives such memory back. */
	MEM_FREE("ncclMemFree", "2.19"),
	/** Makes a buffer known to a communicator. */
	REGISTER("ncclCommRegister", "2.19"),
	/** Makes it unknown again. */
	DEREGISTER("ncclCommDeregister", "2.19"),
	/** Gather as one call, not as messages. */
	GATHER("ncclGather", "2.28"),
	/** Scatter as one call, not as messages. */
	SCATTER("ncclScatter", "2.28"),
	/** All-to-all as one call, not as messages. */
	ALL_TO_ALL("ncclAlltoAll", "2.28");

	private final String symbol;

	private final String since;

	NcclFunction(String symbol, String since) {
		this.symbol = symbol;
		this.since = since;
	}

	/** Its name in the library. */
	public String symbol() {
		return this.symbol;
	}

	/** The first version of NCCL that has it. */
	public String since() {
		return this.since;
	}

}
