package io.tutti.engine.backend.nccl;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

import org.bytedeco.cuda.cudart.CUstream_st;
import org.bytedeco.cuda.global.nccl;
import org.bytedeco.cuda.nccl.ncclComm;
import org.bytedeco.cuda.nccl.ncclConfig_t;
import org.bytedeco.cuda.nccl.ncclUniqueId;
import org.bytedeco.javacpp.BytePointer;
import org.bytedeco.javacpp.Loader;
import org.bytedeco.javacpp.Pointer;
import org.bytedeco.javacpp.PointerPointer;
import org.jspecify.annotations.Nullable;

/**
 * NCCL through the JavaCPP preset. Loaded only after a successful probe. A call that may
 * write a handle later receives a {@link NcclCommunicator.HandleSlots} address, because
 * the preset's own out-parameters are freed when the call returns.
 */
final class PresetNccl implements Nccl {

	/** NCCL's value for an unset number. */
	private static final int UNDEFINED = Integer.MIN_VALUE;

	/**
	 * Loads the preset's native library, so that a missing one fails here.
	 * @throws LinkageError if it or a library it depends on cannot be loaded
	 */
	PresetNccl() {
		Loader.load(nccl.class);
	}

	private static @Nullable Pointer at(long address) {
		return (address != 0) ? new PresetPointer(address) : null;
	}

	private static @Nullable ncclComm communicator(long handle) {
		return (handle != 0) ? new ncclComm(new PresetPointer(handle)) : null;
	}

	private static PointerPointer<Pointer> slot(long address) {
		return new PointerPointer<>(new PresetPointer(address));
	}

	private static PresetPointer copy(Arena arena, byte[] bytes) {
		return PresetPointer.to(arena.allocate(bytes.length, Long.BYTES).copyFrom(MemorySegment.ofArray(bytes)));
	}

	/**
	 * The preset lacks {@code NCCL_CONFIG_INITIALIZER}; sets every field to the same
	 * value.
	 */
	private static ncclConfig_t nonBlocking(Arena arena) {
		ncclConfig_t config = new ncclConfig_t(
				PresetPointer.to(arena.allocate(Loader.sizeof(ncclConfig_t.class), Long.BYTES)));
		return config.size(config.sizeof())
			.magic(nccl.NCCL_API_MAGIC)
			.version(nccl.NCCL_VERSION_CODE)
			.blocking(0)
			.cgaClusterSize(UNDEFINED)
			.minCTAs(UNDEFINED)
			.maxCTAs(UNDEFINED)
			.splitShare(UNDEFINED)
			.trafficClass(UNDEFINED)
			.collnetEnable(UNDEFINED)
			.CTAPolicy(UNDEFINED)
			.shrinkShare(UNDEFINED)
			.nvlsCTAs(UNDEFINED)
			.nChannelsPerNetPeer(UNDEFINED)
			.nvlinkCentricSched(UNDEFINED)
			.graphUsageMode(UNDEFINED)
			.numRmaCtx(UNDEFINED);
	}

	@Override
	public int getUniqueId(byte[] id) {
		try (Arena arena = Arena.ofConfined()) {
			MemorySegment made = arena.allocate(id.length, Long.BYTES);
			int result = nccl.ncclGetUniqueId(new ncclUniqueId(PresetPointer.to(made)));
			MemorySegment.ofArray(id).copyFrom(made);
			return result;
		}
	}

	@Override
	public int commInitRankConfig(long slot, int worldSize, byte[] id, int rank) {
		try (Arena arena = Arena.ofConfined()) {
			return nccl.ncclCommInitRankConfig(slot(slot), worldSize, new ncclUniqueId(copy(arena, id)), rank,
					nonBlocking(arena));
		}
	}

	@Override
	public int commInitAll(long slots, int[] devices) {
		return nccl.ncclCommInitAll(slot(slots), devices.length, devices);
	}

	@Override
	public int commSplit(long communicator, int color, int key, long slot) {
		return nccl.ncclCommSplit(communicator(communicator), color, key, slot(slot), null);
	}

	@Override
	public int commShrink(long communicator, int[] excluded, long slot, int flags) {
		return nccl.ncclCommShrink(communicator(communicator), excluded, excluded.length, slot(slot), null, flags);
	}

	@Override
	public int commFinalize(long communicator) {
		return nccl.ncclCommFinalize(communicator(communicator));
	}

	@Override
	public int commDestroy(long communicator) {
		return nccl.ncclCommDestroy(communicator(communicator));
	}

	@Override
	public int commAbort(long communicator) {
		return nccl.ncclCommAbort(communicator(communicator));
	}

	@Override
	public int commGetAsyncError(long communicator, int[] error) {
		return nccl.ncclCommGetAsyncError(communicator(communicator), error);
	}

	@Override
	public int commUserRank(long communicator, int[] rank) {
		return nccl.ncclCommUserRank(communicator(communicator), rank);
	}

	@Override
	public int commCount(long communicator, int[] worldSize) {
		return nccl.ncclCommCount(communicator(communicator), worldSize);
	}

	@Override
	public int commRegister(long communicator, long address, long bytes, long[] registration) {
		try (Arena arena = Arena.ofConfined()) {
			MemorySegment made = arena.allocate(ValueLayout.JAVA_LONG);
			int result = nccl.ncclCommRegister(communicator(communicator), at(address), bytes, slot(made.address()));
			registration[0] = made.get(ValueLayout.JAVA_LONG, 0);
			return result;
		}
	}

	@Override
	public int commDeregister(long communicator, long registration) {
		return nccl.ncclCommDeregister(communicator(communicator), at(registration));
	}

	@Override
	public int memAlloc(long[] address, long bytes) {
		try (Arena arena = Arena.ofConfined()) {
			MemorySegment made = arena.allocate(ValueLayout.JAVA_LONG);
			int result = nccl.ncclMemAlloc(slot(made.address()), bytes);
			address[0] = made.get(ValueLayout.JAVA_LONG, 0);
			return result;
		}
	}

	@Override
	public int memFree(long address) {
		return nccl.ncclMemFree(at(address));
	}

	@Override
	public int redOpCreatePreMulSum(int[] op, byte[] scalar, int type, long communicator) {
		try (Arena arena = Arena.ofConfined()) {
			return nccl.ncclRedOpCreatePreMulSum(op, copy(arena, scalar), type, nccl.ncclScalarHostImmediate,
					communicator(communicator));
		}
	}

	@Override
	public int redOpDestroy(int op, long communicator) {
		return nccl.ncclRedOpDestroy(op, communicator(communicator));
	}

	@Override
	public int enqueue(NcclCollective call, long handle) {
		Pointer from = at(call.send());
		Pointer to = at(call.receive());
		long count = call.count();
		int type = call.type();
		int op = call.op();
		int root = call.root();
		ncclComm communicator = communicator(handle);
		CUstream_st stream = PresetPointer.stream(call.stream());
		return switch (call.collective()) {
			case ALL_REDUCE -> nccl.ncclAllReduce(from, to, count, type, op, communicator, stream);
			case BROADCAST -> nccl.ncclBroadcast(from, to, count, type, root, communicator, stream);
			case REDUCE -> nccl.ncclReduce(from, to, count, type, op, root, communicator, stream);
			case ALL_GATHER -> nccl.ncclAllGather(from, to, count, type, communicator, stream);
			case REDUCE_SCATTER -> nccl.ncclReduceScatter(from, to, count, type, op, communicator, stream);
			case GATHER -> nccl.ncclGather(from, to, count, type, root, communicator, stream);
			case SCATTER -> nccl.ncclScatter(from, to, count, type, root, communicator, stream);
			case ALL_TO_ALL -> nccl.ncclAlltoAll(from, to, count, type, communicator, stream);
			default -> throw new UnsupportedOperationException("NCCL has no " + call.collective() + " with buffers");
		};
	}

	@Override
	public int send(long send, long count, int type, int peer, long communicator, long stream) {
		return nccl.ncclSend(at(send), count, type, peer, communicator(communicator), PresetPointer.stream(stream));
	}

	@Override
	public int recv(long receive, long count, int type, int peer, long communicator, long stream) {
		return nccl.ncclRecv(at(receive), count, type, peer, communicator(communicator), PresetPointer.stream(stream));
	}

	@Override
	public int groupStart() {
		return nccl.ncclGroupStart();
	}

	@Override
	public int groupEnd() {
		return nccl.ncclGroupEnd();
	}

	@Override
	public String getLastError(long communicator) {
		BytePointer text = nccl.ncclGetLastError(communicator(communicator));
		return (text != null) ? text.getString() : "";
	}

}
