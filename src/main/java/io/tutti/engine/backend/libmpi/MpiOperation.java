package io.tutti.engine.backend.libmpi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

/**
 * An operation of the library: started and tested by the thread that calls the library,
 * awaited by another thread.
 */
abstract class MpiOperation {

	private static final long FLAG = 8;

	private static final long STATUS = 16;

	/** Large enough for the status of either ABI. */
	private static final long BYTES = 64;

	/** The request, its flag and its status; empty for an operation without a request. */
	private final MemorySegment memory;

	private volatile boolean done;

	private volatile @Nullable Thread waiter;

	private @Nullable RuntimeException failure;

	/**
	 * @param memory {@link #requestMemory()}, or empty if {@link #begin} starts no
	 * request
	 */
	MpiOperation(MemorySegment memory) {
		this.memory = memory;
	}

	static MemorySegment requestMemory() {
		return Arena.ofAuto().allocate(BYTES, Long.BYTES);
	}

	/**
	 * Starts the operation.
	 * @return whether a request is in progress at {@link #request()}; otherwise the
	 * operation is done
	 */
	abstract boolean begin(MpiCalls calls);

	/** Called when the request is done, with the code of {@code MPI_Test}. */
	void ended(MpiCalls calls, int code) {
		if (code != 0) {
			throw calls.failure("MPI_Test", code);
		}
	}

	/** Called periodically while the request is in progress. */
	void inspect(MpiCalls calls) {
	}

	/** Called if {@link #inspect} throws; the request is still in progress. */
	void inspectionFailed(RuntimeException failure) {
	}

	/** Called on the library's thread after the operation is done. */
	void finished() {
	}

	final long request() {
		return this.memory.address();
	}

	final long flag() {
		return this.memory.address() + FLAG;
	}

	final long status() {
		return this.memory.address() + STATUS;
	}

	/** Prepares the operation for submission. */
	final void reset(@Nullable Thread waiter) {
		this.failure = null;
		this.done = false;
		this.waiter = waiter;
	}

	final void end(@Nullable RuntimeException failure) {
		this.failure = failure;
		this.done = true;
		LockSupport.unpark(this.waiter);
		finished();
	}

	final boolean isDone() {
		return this.done;
	}

	/** The failure, or {@code null} on success; valid once the operation is done. */
	final @Nullable RuntimeException failure() {
		return this.failure;
	}

	/** Wakes the waiting thread to check again. */
	final void wake() {
		LockSupport.unpark(this.waiter);
	}

}
