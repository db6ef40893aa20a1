package io.tutti.engine.backend.nccl;

/**
 * A function that an installed NCCL library may lack. Calling a missing function ends the
 * process, so each use checks first.
 */
public enum NcclFunction {

	/** Non-blocking creation of a communicator. */
	INIT_RANK_CONFIG("ncclCommInitRankConfig", "2.14"),
	/** Orderly shutdown of a communicator. */
	FINALIZE("ncclCommFinalize", "2.14"),
	/** Text of the last error. */
	LAST_ERROR("ncclGetLastError", "2.13"),
	/** Sum with a factor per rank. */
	PREMULTIPLIED_SUM("ncclRedOpCreatePreMulSum", "2.11"),
	/** Split of a communicator. */
	SPLIT("ncclCommSplit", "2.18"),
	/** A communicator of the remaining ranks. */
	SHRINK("ncclCommShrink", "2.27"),
	/** Allocation of memory that network and NVLink fabric can access directly. */
	MEM_ALLOC("ncclMemAlloc", "2.19"),
	/** Frees such memory. */
	MEM_FREE("ncclMemFree", "2.19"),
	/** Registers a buffer with a communicator. */
	REGISTER("ncclCommRegister", "2.19"),
	/** Deregisters a buffer. */
	DEREGISTER("ncclCommDeregister", "2.19"),
	/** Gather as one call instead of sends and receives. */
	GATHER("ncclGather", "2.28"),
	/** Scatter as one call instead of sends and receives. */
	SCATTER("ncclScatter", "2.28"),
	/** All-to-all as one call instead of sends and receives. */
	ALL_TO_ALL("ncclAlltoAll", "2.28");

	private final String symbol;

	private final String since;

	NcclFunction(String symbol, String since) {
		this.symbol = symbol;
		this.since = since;
	}

	/**
	 * {@return its name in the library}
	 */
	public String symbol() {
		return this.symbol;
	}

	/**
	 * {@return the first version of NCCL that has it}
	 */
	public String since() {
		return this.since;
	}

}
