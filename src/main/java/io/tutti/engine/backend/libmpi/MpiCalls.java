package io.tutti.engine.backend.libmpi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

import io.tutti.engine.spi.NativeMemory;

/**
 * The library's functions as Java methods. Pointers and handles are longs. The library is
 * configured to return errors, and a failed call throws. Only for the thread that calls
 * the library.
 */
final class MpiCalls {

	private static final int THREAD_FUNNELED = 1;

	private static final int MAX_ERROR_BYTES = 1024;

	private final MpiAbi abi;

	private final MemorySegment scratch = Arena.global().allocate(64, 8);

	private final MethodHandle initThread;

	private final MethodHandle finish;

	private final MethodHandle abort;

	private final MethodHandle commRank;

	private final MethodHandle commSize;

	private final MethodHandle setErrorHandler;

	private final MethodHandle getAttribute;

	private final MethodHandle commGroup;

	private final MethodHandle groupIncl;

	private final MethodHandle groupFree;

	private final MethodHandle createGroup;

	private final MethodHandle commFree;

	private final MethodHandle errorString;

	private final MethodHandle errorClass;

	private final MethodHandle test;

	private final MethodHandle getCount;

	private final MethodHandle opCreate;

	private final MethodHandle isend;

	private final MethodHandle irecv;

	private final MethodHandle ibarrier;

	private final MethodHandle ibcast;

	private final MethodHandle iallreduce;

	private final MethodHandle ireduce;

	private final MethodHandle iallgather;

	private final MethodHandle iallgatherv;

	private final MethodHandle ireduceScatterBlock;

	private final MethodHandle ireduceScatter;

	private final MethodHandle igather;

	private final MethodHandle igatherv;

	private final MethodHandle iscatterv;

	private final MethodHandle iscan;

	private final MethodHandle iexscan;

	private final MethodHandle iscatter;

	private final MethodHandle ialltoall;

	private final MethodHandle ialltoallv;

	MpiCalls(MpiLibrary library) {
		this.abi = library.abi();
		this.initThread = library.bind("MPI_Init_thread", "ppip");
		this.finish = library.bind("MPI_Finalize", "");
		this.abort = library.bind("MPI_Abort", "hi");
		this.commRank = library.bind("MPI_Comm_rank", "hp");
		this.commSize = library.bind("MPI_Comm_size", "hp");
		this.setErrorHandler = library.bind("MPI_Comm_set_errhandler", "hh");
		this.getAttribute = library.bind("MPI_Comm_get_attr", "hipp");
		this.commGroup = library.bind("MPI_Comm_group", "hp");
		this.groupIncl = library.bind("MPI_Group_incl", "hipp");
		this.groupFree = library.bind("MPI_Group_free", "p");
		this.createGroup = library.bind("MPI_Comm_create_group", "hhip");
		this.commFree = library.bind("MPI_Comm_free", "p");
		this.errorString = library.bind("MPI_Error_string", "ipp");
		this.errorClass = library.bind("MPI_Error_class", "ip");
		this.test = library.bind("MPI_Test", "ppp");
		this.getCount = library.bind("MPI_Get_count", "php");
		this.opCreate = library.bind("MPI_Op_create", "pip");
		this.isend = library.bind("MPI_Isend", "pihiihp");
		this.irecv = library.bind("MPI_Irecv", "pihiihp");
		this.ibarrier = library.bind("MPI_Ibarrier", "hp");
		this.ibcast = library.bind("MPI_Ibcast", "pihihp");
		this.iallreduce = library.bind("MPI_Iallreduce", "ppihhhp");
		this.ireduce = library.bind("MPI_Ireduce", "ppihhihp");
		this.iallgather = library.bind("MPI_Iallgather", "pihpihhp");
		this.iallgatherv = library.bind("MPI_Iallgatherv", "pihppphhp");
		this.ireduceScatterBlock = library.bind("MPI_Ireduce_scatter_block", "ppihhhp");
		this.ireduceScatter = library.bind("MPI_Ireduce_scatter", "ppphhhp");
		this.igather = library.bind("MPI_Igather", "pihpihihp");
		this.iscatter = library.bind("MPI_Iscatter", "pihpihihp");
		this.igatherv = library.bind("MPI_Igatherv", "pihppphihp");
		this.iscatterv = library.bind("MPI_Iscatterv", "ppphpihihp");
		this.iscan = library.bind("MPI_Iscan", "ppihhhp");
		this.iexscan = library.bind("MPI_Iexscan", "ppihhhp");
		this.ialltoall = library.bind("MPI_Ialltoall", "pihpihhp");
		this.ialltoallv = library.bind("MPI_Ialltoallv", "ppphppphhp");
	}

	/** Initializes the library and makes it return errors instead of aborting. */
	void init() {
		call("MPI_Init_thread", () -> (int) this.initThread.invokeExact(0L, 0L, THREAD_FUNNELED, out()));
		call("MPI_Comm_set_errhandler",
				() -> (int) this.setErrorHandler.invokeExact(this.abi.commWorld(), this.abi.errorsReturn()));
	}

	/** Calls {@code MPI_Finalize}, which every rank must do. */
	void finish() {
		call("MPI_Finalize", () -> (int) this.finish.invokeExact());
	}

	/** Ends every process of the job; does not return. */
	void abort(int code) {
		call("MPI_Abort", () -> (int) this.abort.invokeExact(this.abi.commWorld(), code));
	}

	int rank() {
		call("MPI_Comm_rank", () -> (int) this.commRank.invokeExact(this.abi.commWorld(), out()));
		return outInt();
	}

	int size() {
		call("MPI_Comm_size", () -> (int) this.commSize.invokeExact(this.abi.commWorld(), out()));
		return outInt();
	}

	/**
	 * The largest tag, or the minimum that MPI guarantees if the attribute is not set.
	 */
	int largestTag() {
		call("MPI_Comm_get_attr", () -> (int) this.getAttribute.invokeExact(this.abi.commWorld(),
				this.abi.tagUpperBound(), out(), out() + Long.BYTES));
		boolean known = NativeMemory.getInt(out() + Long.BYTES) != 0;
		return known ? NativeMemory.getInt(NativeMemory.getLong(out())) : 32767;
	}

	/**
	 * Creates a communicator; blocks until all its ranks call it.
	 * @param ranks address of the world ranks, 32 bits each
	 */
	long createGroup(long ranks, int count, int tag) {
		call("MPI_Comm_group", () -> (int) this.commGroup.invokeExact(this.abi.commWorld(), out()));
		long world = outHandle();
		call("MPI_Group_incl", () -> (int) this.groupIncl.invokeExact(world, count, ranks, out()));
		long group = outHandle();
		call("MPI_Comm_create_group",
				() -> (int) this.createGroup.invokeExact(this.abi.commWorld(), group, tag, out()));
		long communicator = outHandle();
		call("MPI_Group_free", () -> (int) this.groupFree.invokeExact(in(group)));
		call("MPI_Group_free", () -> (int) this.groupFree.invokeExact(in(world)));
		call("MPI_Comm_set_errhandler",
				() -> (int) this.setErrorHandler.invokeExact(communicator, this.abi.errorsReturn()));
		return communicator;
	}

	void free(long communicator) {
		call("MPI_Comm_free", () -> (int) this.commFree.invokeExact(in(communicator)));
	}

	/** Creates an operator that calls a native function pointer. */
	long createOperator(long function) {
		call("MPI_Op_create", () -> (int) this.opCreate.invokeExact(function, 1, out()));
		return outHandle();
	}

	/**
	 * Drives progress and tests a request.
	 * @return the error code of a request that is done, {@code -1} while it is in
	 * progress
	 */
	int test(long request, long flag, long status) {
		try {
			int code = (int) this.test.invokeExact(request, flag, status);
			return (code != 0 || NativeMemory.getInt(flag) != 0) ? code : -1;
		}
		catch (Throwable ex) {
			throw rethrown(ex);
		}
	}

	/** Number of elements of a received message. */
	int count(long status, long type) {
		call("MPI_Get_count", () -> (int) this.getCount.invokeExact(status, type, out()));
		return outInt();
	}

	boolean isTruncation(int code) {
		call("MPI_Error_class", () -> (int) this.errorClass.invokeExact(code, out()));
		return outInt() == this.abi.truncated();
	}

	void isend(long buffer, int count, long type, int peer, int tag, long communicator, long request) {
		call("MPI_Isend", () -> (int) this.isend.invokeExact(buffer, count, type, peer, tag, communicator, request));
	}

	void irecv(long buffer, int count, long type, int source, int tag, long communicator, long request) {
		call("MPI_Irecv", () -> (int) this.irecv.invokeExact(buffer, count, type, source, tag, communicator, request));
	}

	void ibarrier(long communicator, long request) {
		call("MPI_Ibarrier", () -> (int) this.ibarrier.invokeExact(communicator, request));
	}

	void ibcast(long buffer, int count, long type, int root, long communicator, long request) {
		call("MPI_Ibcast", () -> (int) this.ibcast.invokeExact(buffer, count, type, root, communicator, request));
	}

	void iallreduce(long send, long receive, int count, long type, long op, long communicator, long request) {
		call("MPI_Iallreduce",
				() -> (int) this.iallreduce.invokeExact(send, receive, count, type, op, communicator, request));
	}

	void ireduce(long send, long receive, int count, long type, long op, int root, long communicator, long request) {
		call("MPI_Ireduce",
				() -> (int) this.ireduce.invokeExact(send, receive, count, type, op, root, communicator, request));
	}

	void iallgather(long send, long receive, int count, long type, long communicator, long request) {
		call("MPI_Iallgather", () -> (int) this.iallgather.invokeExact(send, count, type, receive, count, type,
				communicator, request));
	}

	void iallgatherv(long send, int count, long receive, long counts, long places, long type, long communicator,
			long request) {
		call("MPI_Iallgatherv", () -> (int) this.iallgatherv.invokeExact(send, count, type, receive, counts, places,
				type, communicator, request));
	}

	void ireduceScatterBlock(long send, long receive, int count, long type, long op, long communicator, long request) {
		call("MPI_Ireduce_scatter_block", () -> (int) this.ireduceScatterBlock.invokeExact(send, receive, count, type,
				op, communicator, request));
	}

	void ireduceScatter(long send, long receive, long counts, long type, long op, long communicator, long request) {
		call("MPI_Ireduce_scatter",
				() -> (int) this.ireduceScatter.invokeExact(send, receive, counts, type, op, communicator, request));
	}

	void igather(long send, long receive, int count, long type, int root, long communicator, long request) {
		call("MPI_Igather", () -> (int) this.igather.invokeExact(send, count, type, receive, count, type, root,
				communicator, request));
	}

	void iscatter(long send, long receive, int count, long type, int root, long communicator, long request) {
		call("MPI_Iscatter", () -> (int) this.iscatter.invokeExact(send, count, type, receive, count, type, root,
				communicator, request));
	}

	void igatherv(long send, int count, long receive, long counts, long places, long type, int root, long communicator,
			long request) {
		call("MPI_Igatherv", () -> (int) this.igatherv.invokeExact(send, count, type, receive, counts, places, type,
				root, communicator, request));
	}

	void iscatterv(long send, long counts, long places, long receive, int count, long type, int root, long communicator,
			long request) {
		call("MPI_Iscatterv", () -> (int) this.iscatterv.invokeExact(send, counts, places, type, receive, count, type,
				root, communicator, request));
	}

	void iscan(long send, long receive, int count, long type, long op, long communicator, long request) {
		call("MPI_Iscan", () -> (int) this.iscan.invokeExact(send, receive, count, type, op, communicator, request));
	}

	void iexscan(long send, long receive, int count, long type, long op, long communicator, long request) {
		call("MPI_Iexscan",
				() -> (int) this.iexscan.invokeExact(send, receive, count, type, op, communicator, request));
	}

	void ialltoall(long send, long receive, int count, long type, long communicator, long request) {
		call("MPI_Ialltoall",
				() -> (int) this.ialltoall.invokeExact(send, count, type, receive, count, type, communicator, request));
	}

	void ialltoallv(long send, long sendCounts, long sendPlaces, long receive, long receiveCounts, long receivePlaces,
			long type, long communicator, long request) {
		call("MPI_Ialltoallv", () -> (int) this.ialltoallv.invokeExact(send, sendCounts, sendPlaces, type, receive,
				receiveCounts, receivePlaces, type, communicator, request));
	}

	/** Builds the exception for an error code. */
	MpiLibraryException failure(String function, int code) {
		return new MpiLibraryException(function, code, text(code));
	}

	/** Calls a function that returns an error code. */
	private void call(String function, Invocation invocation) {
		int code;
		try {
			code = invocation.run();
		}
		catch (Throwable ex) {
			throw rethrown(ex);
		}
		if (code != 0) {
			throw failure(function, code);
		}
	}

	private String text(int code) {
		try (Arena arena = Arena.ofConfined()) {
			MemorySegment text = arena.allocate(MAX_ERROR_BYTES);
			int _ = (int) this.errorString.invokeExact(code, text.address(),
					arena.allocate(ValueLayout.JAVA_INT).address());
			return text.getString(0);
		}
		catch (Throwable ex) {
			throw rethrown(ex);
		}
	}

	private long out() {
		return this.scratch.address();
	}

	private int outInt() {
		return NativeMemory.getInt(out());
	}

	private long outHandle() {
		return (this.abi.handle().byteSize() == Integer.BYTES) ? outInt() : NativeMemory.getLong(out());
	}

	private long in(long handle) {
		NativeMemory.putLong(out(), handle);
		return out();
	}

	/** Method handles declare {@link Throwable}; these throw no checked exceptions. */
	static RuntimeException rethrown(Throwable cause) {
		if (cause instanceof RuntimeException unchecked) {
			return unchecked;
		}
		if (cause instanceof Error error) {
			throw error;
		}
		return new IllegalStateException("a function of the MPI library could not be called", cause);
	}

	/** A call through a method handle. */
	@FunctionalInterface
	private interface Invocation {

		int run() throws Throwable;

	}

}
