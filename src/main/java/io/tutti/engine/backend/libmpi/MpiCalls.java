package io.tutti.engine.backend.libmpi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

import io.tutti.DataType;
import io.tutti.engine.spi.CleanUp;
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

	private final Function allGather = bind("MPI_Allgather", "pihpihh");

	private final Function groupFree = bind("MPI_Group_free", "p");

	private final Function createGroup = bind("MPI_Comm_create_group", "hhip");

	private final Function commFree = bind("MPI_Comm_free", "p");

	private final Function errorString = bind("MPI_Error_string", "ipp");

	private final Function errorClass = bind("MPI_Error_class", "ip");

	private final MethodHandle test;

	private final Function getCount = bind("MPI_Get_count", "php");

	private final Function iprobe = bind("MPI_Iprobe", "iihpp");

	private final Function cancel = bind("MPI_Cancel", "p");

	private final Function testCancelled = bind("MPI_Test_cancelled", "pp");

	private final Function opCreate = bind("MPI_Op_create", "pip");

	final Function isend = bind("MPI_Isend", "pihiihp");

	final Function irecv = bind("MPI_Irecv", "pihiihp");

	final Function ibarrier = bind("MPI_Ibarrier", "hp");

	final Function ibcast = bind("MPI_Ibcast", "pihihp");

	final Function iallreduce = bind("MPI_Iallreduce", "ppihhhp");

	final Function ireduce = bind("MPI_Ireduce", "ppihhihp");

	final Function iallgather = bind("MPI_Iallgather", "pihpihhp");

	final Function iallgatherv = bind("MPI_Iallgatherv", "pihppphhp");

	final Function ireduceScatterBlock = bind("MPI_Ireduce_scatter_block", "ppihhhp");

	final Function ireduceScatter = bind("MPI_Ireduce_scatter", "ppphhhp");

	final Function igather = bind("MPI_Igather", "pihpihihp");

	final Function igatherv = bind("MPI_Igatherv", "pihppphihp");

	final Function iscatterv = bind("MPI_Iscatterv", "ppphpihihp");

	final Function iscan = bind("MPI_Iscan", "ppihhhp");

	final Function iexscan = bind("MPI_Iexscan", "ppihhhp");

	final Function iscatter = bind("MPI_Iscatter", "pihpihihp");

	final Function ialltoall = bind("MPI_Ialltoall", "pihpihhp");

	final Function ialltoallv = bind("MPI_Ialltoallv", "ppphppphhp");

	/** The functions above are bound after the library is set. */
	MpiCalls(MpiLibrary library, int rank, int worldSize) {
		this.rank = rank;
		this.worldSize = worldSize;
		this.library = library;
		this.test = library.bind("MPI_Test", "ppp");
		super();
	}

	private Function bind(String name, String arguments) {
		return new Function(name, this.library.bind(name, arguments));
	}

	/** Initializes the library and makes it return errors instead of aborting. */
	void init() {
		this.initThread.call(0L, 0L, THREAD_FUNNELED, out());
		this.setErrorHandler.call(this.library.abi().commWorld(), this.library.abi().errorsReturn());
	}

	/** Calls {@code MPI_Finalize}, which every rank must do. */
	void finish() {
		this.finish.call();
	}

	/** Ends every process of the job; does not return. */
	void abort(int code) {
		this.abort.call(this.library.abi().commWorld(), code);
	}

	int rank() {
		this.commRank.call(this.library.abi().commWorld(), out());
		return outInt();
	}

	int size() {
		this.commSize.call(this.library.abi().commWorld(), out());
		return outInt();
	}

	/**
	 * The largest tag, or the minimum that MPI guarantees if the attribute is not set.
	 */
	int largestTag() {
		this.getAttribute.call(this.library.abi().commWorld(), this.library.abi().tagUpperBound(), out(),
				out() + Long.BYTES);
		boolean known = NativeMemory.getInt(out() + Long.BYTES) != 0;
		return known ? NativeMemory.getInt(NativeMemory.getLong(out())) : 32767;
	}

	/**
	 * Gathers all ranks' bytes on every rank; blocks until all ranks call it.
	 * @param bytes number of bytes of each rank
	 */
	void allGather(long send, int bytes, long receive) {
		long type = this.library.abi().type(DataType.UINT8);
		this.allGather.call(send, bytes, type, receive, bytes, type, this.library.abi().commWorld());
	}

	/**
	 * Creates a communicator; blocks until all its ranks call it.
	 * @param ranks address of the world ranks, 32 bits each
	 */
	long createGroup(long ranks, int count, int tag) {
		this.commGroup.call(this.library.abi().commWorld(), out());
		long world = outHandle();
		this.groupIncl.call(world, count, ranks, out());
		long group = outHandle();
		this.createGroup.call(this.library.abi().commWorld(), group, tag, out());
		long communicator = outHandle();
		this.groupFree.call(in(group));
		this.groupFree.call(in(world));
		this.setErrorHandler.call(communicator, this.library.abi().errorsReturn());
		return communicator;
	}

	void free(long communicator) {
		this.commFree.call(in(communicator));
	}

	/** Creates an operator that calls a native function pointer. */
	long createOperator(long function) {
		this.opCreate.call(function, 1, out());
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
			throw CleanUp.unchecked(ex);
		}
	}

	/** Number of elements of a received message. */
	int count(long status, long type) {
		this.getCount.call(status, type, out());
		return outInt();
	}

	/**
	 * Looks for a message without receiving it.
	 * @param status address of the status to fill in
	 * @return whether there is one
	 */
	boolean probe(int source, int tag, long communicator, long status) {
		this.iprobe.call(source, tag, communicator, out(), status);
		return outInt() != 0;
	}

	/** Asks for the end of a receive that has not matched; a test tells the result. */
	void cancel(long request) {
		this.cancel.call(request);
	}

	/** Whether an operation that is done was cancelled. */
	boolean isCancelled(long status) {
		this.testCancelled.call(status, out());
		return outInt() != 0;
	}

	boolean isTruncation(int code) {
		this.errorClass.call(code, out());
		return outInt() == this.library.abi().truncated();
	}

	/** Builds the exception for an error code. */
	MpiLibraryException failure(String function, int code) {
		return new MpiLibraryException(this.rank, this.worldSize, function, code, text(code));
	}

	private String text(int code) {
		try (Arena arena = Arena.ofConfined()) {
			MemorySegment text = arena.allocate(MAX_ERROR_BYTES);
			this.errorString.code(code, text.address(), arena.allocate(ValueLayout.JAVA_INT).address());
			return text.getString(0);
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

	/** A function of the library that returns an error code. */
	final class Function {

		private final String name;

		private final MethodHandle handle;

		Function(String name, MethodHandle handle) {
			this.name = name;
			this.handle = handle.asSpreader(long[].class, handle.type().parameterCount());
		}

		/**
		 * Calls the function.
		 * @param arguments as in C; int arguments are narrowed
		 * @throws MpiLibraryException if it returns an error
		 */
		void call(long... arguments) {
			int code = code(arguments);
			if (code != 0) {
				throw failure(this.name, code);
			}
		}

		/** Calls the function and returns its error code. */
		int code(long... arguments) {
			try {
				return (int) this.handle.invokeExact(arguments);
			}
			catch (Throwable ex) {
				throw CleanUp.unchecked(ex);
			}
		}

	}

}
