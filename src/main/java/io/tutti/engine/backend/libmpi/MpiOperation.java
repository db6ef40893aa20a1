package io.tutti.engine.backend.libmpi;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

/**
 * Something that the library is asked to do: begun and watched by the one thread that
 * calls it, awaited by another.
 */
abstract class MpiOperation {

	private static final long FLAG = 8;

	private static final long STATUS = 16;

	/** Room for the status of every family. */
	private static final long BYTES = 64;

	private final MemorySegment memory = Arena.ofAuto().allocate(BYTES, Long.BYTES);

	private volatile boolean done;

	private volatile @Nullable Thread waiter;

	private @Nullable RuntimeException failure;

	/**
	 * Asks the library.
	 * @return whether a request is under way at {@link #request()}; otherwise all is done
	 */
	abstract boolean begin(MpiCalls calls);

	/** The request is done. */
	void ended(MpiCalls calls, int code) {
		if (code != 0) {
			throw calls.failure("MPI_Test", code);
		}
	}

	/** A look from time to time at an operation that nobody waits for. */
	void inspect(long nowNanos) {
	}

	/** Called when all is over, on the library's thread. */
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

	/** Made ready to be submitted, again. */
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

	/** Why it failed; {@code null} if it did not. Only once it is done. */
	final @Nullable RuntimeException failure() {
		return this.failure;
	}

	/** Has the waiting thread look again. */
	final void wake() {
		LockSupport.unpark(this.waiter);
	}

}
