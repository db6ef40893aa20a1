package io.tutti.engine.backend.nccl;

/**
 * The NCCL calls in use, each with the preset's name without the {@code nccl} prefix.
 * They return NCCL's result codes and write other results to the first element of an
 * array. Communicators, streams and registrations are handles; device memory is an
 * address.
 */
interface Nccl {

	int getUniqueId(byte[] id);

	/**
	 * Non-blocking: may return "in progress".
	 * @param slot address of 8 bytes for the handle, which NCCL may write until the work
	 * is done
	 */
	int commInitRankConfig(long slot, int worldSize, byte[] id, int rank);

	/**
	 * Creates one blocking communicator per device of this process.
	 * @param slots address of 8 bytes for each handle
	 */
	int commInitAll(long slots, int[] devices);

	/** Non-blocking: the handle may be written after the call returns. */
	int commSplit(long communicator, int color, int key, long slot);

	/** Non-blocking: the handle may be written after the call returns. */
	int commShrink(long communicator, int[] excluded, long slot, int flags);

	int commFinalize(long communicator);

	int commDestroy(long communicator);

	/** Has no effect on the handle 0. */
	int commAbort(long communicator);

	int commGetAsyncError(long communicator, int[] error);

	int commUserRank(long communicator, int[] rank);

	int commCount(long communicator, int[] worldSize);

	int commRegister(long communicator, long address, long bytes, long[] registration);

	int commDeregister(long communicator, long registration);

	int memAlloc(long[] address, long bytes);

	int memFree(long address);

	int redOpCreatePreMulSum(int[] op, byte[] scalar, int type, long communicator);

	int redOpDestroy(int op, long communicator);

	/** Queues a collective on its stream. */
	int enqueue(NcclCollective call, long communicator);

	int send(long send, long count, int type, int peer, long communicator, long stream);

	int recv(long receive, long count, int type, int peer, long communicator, long stream);

	int groupStart();

	int groupEnd();

	/** The last error text of this process; the communicator may be 0. */
	String getLastError(long communicator);

}
