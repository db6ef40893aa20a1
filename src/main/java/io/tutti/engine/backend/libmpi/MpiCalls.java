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

	private final MpiLibrary library;

	private final int rank;

	private final int worldSize;

	private final MemorySegment scratch = Arena.global().allocate(64, 8);

	private final Function initThread = bind("MPI_Init_thread", "ppip");

	private final Function finish = bind("MPI_Finalize", "");

	private final Function abort = bind("MPI_Abort", "hi");

	private final Function commRank = bind("MPI_Comm_rank", "hp");

	private final Function commSize = bind("MPI_Comm_size", "hp");

	private final Function setErrorHandler = bind("MPI_Comm_set_errhandler", "hh");

	private final Function getAttribute = bind("MPI_Comm_get_attr", "hipp");

	private final Function commGroup = bind("MPI_Comm_group", "hp");

	private final Function groupIncl = bind("MPI_Group_incl", "hipp");

	private final Function groupFree = bind("MPI_Group_free", "p");

	private final Function createGroup = bind("MPI_Comm_create_group", "hhip");

	private final Function commFree = bind("MPI_Comm_free", "p");

	private final Function errorString = bind("MPI_Error_string", "ipp");

	private final Function errorClass = bind("MPI_Error_class", "ip");

	private final Function test = bind("MPI_Test", "ppp");

	private final Function getCount = bind("MPI_Get_count", "php");

	private final Function iprobe = bind("MPI_Iprobe", "iihpp");

	private final Function cancel = bind("MPI_Cancel", "p");

	private final Function testCancelled = bind("MPI_Test_cancelled", "pp");

	private final Function opCreate = bind("MPI_Op_create", "pip");

	private final Function isend = bind("MPI_Isend", "pihiihp");

	private final Function irecv = bind("MPI_Irecv", "pihiihp");

	private final Function ibarrier = bind("MPI_Ibarrier", "hp");

	private final Function ibcast = bind("MPI_Ibcast", "pihihp");

	private final Function iallreduce = bind("MPI_Iallreduce", "ppihhhp");

	private final Function ireduce = bind("MPI_Ireduce", "ppihhihp");

	private final Function iallgather = bind("MPI_Iallgather", "pihpihhp");

	private final Function iallgatherv = bind("MPI_Iallgatherv", "pihppphhp");

	private final Function ireduceScatterBlock = bind("MPI_Ireduce_scatter_block", "ppihhhp");

	private final Function ireduceScatter = bind("MPI_Ireduce_scatter", "ppphhhp");

	private final Function igather = bind("MPI_Igather", "pihpihihp");

	private final Function igatherv = bind("MPI_Igatherv", "pihppphihp");

	private final Function iscatterv = bind("MPI_Iscatterv", "ppphpihihp");

	private final Function iscan = bind("MPI_Iscan", "ppihhhp");

	private final Function iexscan = bind("MPI_Iexscan", "ppihhhp");

	private final Function iscatter = bind("MPI_Iscatter", "pihpihihp");

	private final Function ialltoall = bind("MPI_Ialltoall", "pihpihhp");

	private final Function ialltoallv = bind("MPI_Ialltoallv", "ppphppphhp");

	/** The functions above are bound after the library is set. */
	MpiCalls(MpiLibrary library, int rank, int worldSize) {
		this.rank = rank;
		this.worldSize = worldSize;
		this.library = library;
		super();
	}

	private Function bind(String name, String arguments) {
		return new Function(name, this.library.bind(name, arguments));
	}

	/** Initializes the library and makes it return errors instead of aborting. */
	void init() {
		call(this.initThread, () -> (int) this.initThread.handle.invokeExact(0L, 0L, THREAD_FUNNELED, out()));
		call(this.setErrorHandler, () -> (int) this.setErrorHandler.handle.invokeExact(this.library.abi().commWorld(),
				this.library.abi().errorsReturn()));
	}

	/** Calls {@code MPI_Finalize}, which every rank must do. */
	void finish() {
		call(this.finish, () -> (int) this.finish.handle.invokeExact());
	}

	/** Ends every process of the job; does not return. */
	void abort(int code) {
		call(this.abort, () -> (int) this.abort.handle.invokeExact(this.library.abi().commWorld(), code));
	}

	int rank() {
		call(this.commRank, () -> (int) this.commRank.handle.invokeExact(this.library.abi().commWorld(), out()));
		return outInt();
	}

	int size() {
		call(this.commSize, () -> (int) this.commSize.handle.invokeExact(this.library.abi().commWorld(), out()));
		return outInt();
	}

	/**
	 * The largest tag, or the minimum that MPI guarantees if the attribute is not set.
	 */
	int largestTag() {
		call(this.getAttribute, () -> (int) this.getAttribute.handle.invokeExact(this.library.abi().commWorld(),
				this.library.abi().tagUpperBound(), out(), out() + Long.BYTES));
		boolean known = NativeMemory.getInt(out() + Long.BYTES) != 0;
		return known ? NativeMemory.getInt(NativeMemory.getLong(out())) : 32767;
	}

	/**
	 * Creates a communicator; blocks until all its ranks call it.
	 * @param ranks address of the world ranks, 32 bits each
	 */
	long createGroup(long ranks, int count, int tag) {
		call(this.commGroup, () -> (int) this.commGroup.handle.invokeExact(this.library.abi().commWorld(), out()));
		long world = outHandle();
		call(this.groupIncl, () -> (int) this.groupIncl.handle.invokeExact(world, count, ranks, out()));
		long group = outHandle();
		call(this.createGroup,
				() -> (int) this.createGroup.handle.invokeExact(this.library.abi().commWorld(), group, tag, out()));
		long communicator = outHandle();
		call(this.groupFree, () -> (int) this.groupFree.handle.invokeExact(in(group)));
		call(this.groupFree, () -> (int) this.groupFree.handle.invokeExact(in(world)));
		call(this.setErrorHandler,
				() -> (int) this.setErrorHandler.handle.invokeExact(communicator, this.library.abi().errorsReturn()));
		return communicator;
	}

	void free(long communicator) {
		call(this.commFree, () -> (int) this.commFree.handle.invokeExact(in(communicator)));
	}

	/** Creates an operator that calls a native function pointer. */
	long createOperator(long function) {
		call(this.opCreate, () -> (int) this.opCreate.handle.invokeExact(function, 1, out()));
		return outHandle();
	}

	/**
	 * Drives progress and tests a request.
	 * @return the error code of a request that is done, {@code -1} while it is in
	 * progress
	 */
	int test(long request, long flag, long status) {
		try {
			int code = (int) this.test.handle.invokeExact(request, flag, status);
			return (code != 0 || NativeMemory.getInt(flag) != 0) ? code : -1;
		}
		catch (Throwable ex) {
			throw rethrown(ex);
		}
	}

	/** Number of elements of a received message. */
	int count(long status, long type) {
		call(this.getCount, () -> (int) this.getCount.handle.invokeExact(status, type, out()));
		return outInt();
	}

	/**
	 * Looks for a message without receiving it.
	 * @param status address of the status to fill in
	 * @return whether there is one
	 */
	boolean probe(int source, int tag, long communicator, long status) {
		call(this.iprobe, () -> (int) this.iprobe.handle.invokeExact(source, tag, communicator, out(), status));
		return outInt() != 0;
	}

	/** Asks for the end of a receive that has not matched; a test tells the result. */
	void cancel(long request) {
		call(this.cancel, () -> (int) this.cancel.handle.invokeExact(request));
	}

	/** Whether an operation that is done was cancelled. */
	boolean isCancelled(long status) {
		call(this.testCancelled, () -> (int) this.testCancelled.handle.invokeExact(status, out()));
		return outInt() != 0;
	}

	boolean isTruncation(int code) {
		call(this.errorClass, () -> (int) this.errorClass.handle.invokeExact(code, out()));
		return outInt() == this.library.abi().truncated();
	}

	void isend(long buffer, int count, long type, int peer, int tag, long communicator, long request) {
		call(this.isend,
				() -> (int) this.isend.handle.invokeExact(buffer, count, type, peer, tag, communicator, request));
	}

	void irecv(long buffer, int count, long type, int source, int tag, long communicator, long request) {
		call(this.irecv,
				() -> (int) this.irecv.handle.invokeExact(buffer, count, type, source, tag, communicator, request));
	}

	void ibarrier(long communicator, long request) {
		call(this.ibarrier, () -> (int) this.ibarrier.handle.invokeExact(communicator, request));
	}

	void ibcast(long buffer, int count, long type, int root, long communicator, long request) {
		call(this.ibcast, () -> (int) this.ibcast.handle.invokeExact(buffer, count, type, root, communicator, request));
	}

	void iallreduce(long send, long receive, int count, long type, long op, long communicator, long request) {
		call(this.iallreduce,
				() -> (int) this.iallreduce.handle.invokeExact(send, receive, count, type, op, communicator, request));
	}

	void ireduce(long send, long receive, int count, long type, long op, int root, long communicator, long request) {
		call(this.ireduce, () -> (int) this.ireduce.handle.invokeExact(send, receive, count, type, op, root,
				communicator, request));
	}

	void iallgather(long send, long receive, int count, long type, long communicator, long request) {
		call(this.iallgather, () -> (int) this.iallgather.handle.invokeExact(send, count, type, receive, count, type,
				communicator, request));
	}

	void iallgatherv(long send, int count, long receive, long counts, long places, long type, long communicator,
			long request) {
		call(this.iallgatherv, () -> (int) this.iallgatherv.handle.invokeExact(send, count, type, receive, counts,
				places, type, communicator, request));
	}

	void ireduceScatterBlock(long send, long receive, int count, long type, long op, long communicator, long request) {
		call(this.ireduceScatterBlock, () -> (int) this.ireduceScatterBlock.handle.invokeExact(send, receive, count,
				type, op, communicator, request));
	}

	void ireduceScatter(long send, long receive, long counts, long type, long op, long communicator, long request) {
		call(this.ireduceScatter, () -> (int) this.ireduceScatter.handle.invokeExact(send, receive, counts, type, op,
				communicator, request));
	}

	void igather(long send, long receive, int count, long type, int root, long communicator, long request) {
		call(this.igather, () -> (int) this.igather.handle.invokeExact(send, count, type, receive, count, type, root,
				communicator, request));
	}

	void iscatter(long send, long receive, int count, long type, int root, long communicator, long request) {
		call(this.iscatter, () -> (int) this.iscatter.handle.invokeExact(send, count, type, receive, count, type, root,
				communicator, request));
	}

	void igatherv(long send, int count, long receive, long counts, long places, long type, int root, long communicator,
			long request) {
		call(this.igatherv, () -> (int) this.igatherv.handle.invokeExact(send, count, type, receive, counts, places,
				type, root, communicator, request));
	}

	void iscatterv(long send, long counts, long places, long receive, int count, long type, int root, long communicator,
			long request) {
		call(this.iscatterv, () -> (int) this.iscatterv.handle.invokeExact(send, counts, places, type, receive, count,
				type, root, communicator, request));
	}

	void iscan(long send, long receive, int count, long type, long op, long communicator, long request) {
		call(this.iscan,
				() -> (int) this.iscan.handle.invokeExact(send, receive, count, type, op, communicator, request));
	}

	void iexscan(long send, long receive, int count, long type, long op, long communicator, long request) {
		call(this.iexscan,
				() -> (int) this.iexscan.handle.invokeExact(send, receive, count, type, op, communicator, request));
	}

	void ialltoall(long send, long receive, int count, long type, long communicator, long request) {
		call(this.ialltoall, () -> (int) this.ialltoall.handle.invokeExact(send, count, type, receive, count, type,
				communicator, request));
	}

	void ialltoallv(long send, long sendCounts, long sendPlaces, long receive, long receiveCounts, long receivePlaces,
			long type, long communicator, long request) {
		call(this.ialltoallv, () -> (int) this.ialltoallv.handle.invokeExact(send, sendCounts, sendPlaces, type,
				receive, receiveCounts, receivePlaces, type, communicator, request));
	}

	/** Builds the exception for an error code. */
	MpiLibraryException failure(String function, int code) {
		return new MpiLibraryException(this.rank, this.worldSize, function, code, text(code));
	}

	/** Calls a function that returns an error code. */
	private void call(Function function, Invocation invocation) {
		int code;
		try {
			code = invocation.run();
		}
		catch (Throwable ex) {
			throw rethrown(ex);
		}
		if (code != 0) {
			throw failure(function.name, code);
		}
	}

	private String text(int code) {
		try (Arena arena = Arena.ofConfined()) {
			MemorySegment text = arena.allocate(MAX_ERROR_BYTES);
			int _ = (int) this.errorString.handle.invokeExact(code, text.address(),
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
		return (this.library.abi().handle().byteSize() == Integer.BYTES) ? outInt() : NativeMemory.getLong(out());
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

	/** A function of the library. */
	private record Function(String name, MethodHandle handle) {
	}

	/** A call through a method handle. */
	@FunctionalInterface
	private interface Invocation {

		int run() throws Throwable;

	}

}
