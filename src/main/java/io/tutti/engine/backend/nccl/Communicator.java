package io.tutti.engine.backend.nccl;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;

import io.tutti.engine.device.DeviceException;
import io.tutti.engine.device.SelectedDevice;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.transport.IdleStrategy;
import org.jspecify.annotations.Nullable;

/**
 * One NCCL communicator. Calls run one at a time, each with a deadline, and the
 * communicator ends exactly once, by close or abort. A failed communicator accepts no
 * calls but stays alive, so that the remaining ranks can shrink it.
 * <p>
 * Two locks: a caller holds {@code turn} until its call is done; {@code gate} is held
 * only while native code runs, which is short in non-blocking mode. An abort needs only
 * {@code gate}, so it can run while a call waits.
 */
final class Communicator {

	/** An NCCL call that returns its result code. */
	interface Issue {

		int on(Nccl nccl, long communicator);

	}

	/** An NCCL call that derives another communicator. */
	interface Derivation {

		int on(Nccl nccl, long parent, long slot);

	}

	/** Life cycle state. */
	enum State {

		OPEN, FAILED, CLOSING, CLOSED, ABORTED

	}

	/**
	 * Native memory to which NCCL writes a communicator's handle, during the call or
	 * later from its own thread.
	 */
	static final class HandleSlot {

		private final MemorySegment memory = Arena.ofAuto().allocate(ValueLayout.JAVA_LONG);

		long address() {
			return this.memory.address();
		}

		/** The handle, or 0 until it is written. */
		long handle() {
			return (long) ValueLayout.JAVA_LONG.varHandle().getAcquire(this.memory, 0L);
		}

	}

	private final NcclLibrary library;

	private final long handle;

	private volatile RankPlacement place;

	private final ReentrantLock turn = new ReentrantLock(true);

	private final TimedLock gate = new TimedLock();

	private final AtomicReference<State> state = new AtomicReference<>(State.OPEN);

	private final AbortHandle abortHandle = new AbortHandle(this);

	/** Memory to which NCCL writes the handle; kept reachable while NCCL may write. */
	private final @Nullable HandleSlot slot;

	private volatile @Nullable NcclException failure;

	/** Runs repeatedly while a call is in progress. */
	private volatile Runnable onWait = () -> {
	};

	Communicator(NcclLibrary library, HandleSlot slot, RankPlacement place) {
		this(library, slot, slot.handle(), place);
	}

	/** Wraps an existing communicator. */
	Communicator(NcclLibrary library, long handle, RankPlacement place) {
		this(library, null, handle, place);
	}

	private Communicator(NcclLibrary library, @Nullable HandleSlot slot, long handle, RankPlacement place) {
		this.library = library;
		this.slot = slot;
		this.handle = handle;
		this.place = place;
	}

	int device() {
		return this.place.device();
	}

	long handle() {
		return this.handle;
	}

	/** Sets the place of a derived communicator, which NCCL determines. */
	void placed(RankPlacement derived) {
		this.place = derived;
	}

	State state() {
		return this.state.get();
	}

	AbortHandle abortHandle() {
		return this.abortHandle;
	}

	/**
	 * Issues a call and waits until NCCL has enqueued it; it may still run on the device.
	 * @throws NcclException if it fails, is aborted, or the deadline passes
	 */
	void issue(String call, Deadline deadline, Issue issue) {
		takeTurn(call, deadline);
		try (SelectedDevice _ = SelectedDevice.select(this.library.runtime(), device())) {
			settle(call, guarded(call, deadline, issue), deadline);
		}
		catch (DeviceException ex) {
			throw ex.onRank(this.place.rank(), this.place.worldSize());
		}
		finally {
			this.turn.unlock();
		}
	}

	void onWait(Runnable action) {
		this.onWait = action;
	}

	/** Called while a call is in progress. */
	void stillWaiting() {
		this.onWait.run();
	}

	/** Waits until NCCL has no operation in progress, such as a creation. */
	void awaitReady(String call, Deadline deadline) {
		settle(call, NcclResult.IN_PROGRESS.ordinal(), deadline);
	}

	private void takeTurn(String call, Deadline deadline) {
		try {
			if (!this.turn.tryLock(deadline.remainingNanos(), TimeUnit.NANOSECONDS)) {
				throw tooLate(call, deadline);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			abort();
			throw NcclException.aborted(this.place, call);
		}
	}

	/**
	 * Calls NCCL only while the communicator is open, and discards the result of a call
	 * that an abort has overtaken. A caller waits for another thread's native call until
	 * its own deadline.
	 */
	private int guarded(String call, Deadline deadline, Issue issue) {
		takeGate(call, deadline);
		try {
			requireOpen(call);
			int code = issue.on(this.library.nccl(), this.handle);
			if (this.state.get() == State.ABORTED) {
				throw NcclException.aborted(this.place, call);
			}
			return code;
		}
		finally {
			this.gate.unlock();
		}
	}

	private void takeGate(String call, Deadline deadline) {
		if (!this.gate.tryLock(deadline.remainingNanos())) {
			throw tooLate(call, deadline);
		}
	}

	private void requireOpen(String call) {
		NcclException earlier = this.failure;
		switch (this.state.get()) {
			case OPEN -> {
			}
			case ABORTED -> throw NcclException.aborted(this.place, call);
			case FAILED -> throw (earlier != null) ? NcclException.after(earlier, this.place, call)
					: NcclException.aborted(this.place, call);
			case CLOSING, CLOSED -> throw new IllegalStateException(call + ": the communicator is closed");
		}
	}

	private void settle(String call, int code, Deadline deadline) {
		NcclResult[] answer = { NcclResult.of(code) };
		boolean done = IdleStrategy.await(() -> {
			if (answer[0] == NcclResult.IN_PROGRESS) {
				stillWaiting();
				answer[0] = NcclResult.of(guarded(call, deadline, Communicator::progress));
			}
			return answer[0] != NcclResult.IN_PROGRESS;
		}, deadline);
		if (!done) {
			throw tooLate(call, deadline);
		}
		if (answer[0] != NcclResult.SUCCESS) {
			throw failed(call, answer[0]);
		}
	}

	private static int progress(Nccl nccl, long communicator) {
		int[] error = new int[1];
		int code = nccl.commGetAsyncError(communicator, error);
		return (code == NcclResult.SUCCESS.ordinal()) ? error[0] : code;
	}

	/**
	 * Whether all work queued on a stream is complete. The stream may be destroyed when
	 * the communicator ends and is not queried afterwards.
	 */
	boolean isIdle(String call, Deadline deadline, long stream) {
		takeGate(call, deadline);
		try {
			requireOpen(call);
			return this.library.runtime().isIdle(stream);
		}
		catch (DeviceException ex) {
			throw ex.onRank(this.place.rank(), this.place.worldSize());
		}
		finally {
			this.gate.unlock();
		}
	}

	/**
	 * Checks for an asynchronous error.
	 * @throws NcclException if there is one
	 */
	void check(String call, Deadline deadline) {
		NcclResult result = NcclResult.of(guarded(call, deadline, Communicator::progress));
		if (result != NcclResult.SUCCESS && result != NcclResult.IN_PROGRESS) {
			throw failed(call, result);
		}
	}

	private NcclException failed(String call, NcclResult result) {
		NcclException seen = NcclException.error(this.place, call, result, this.library.lastError());
		this.failure = seen;
		this.state.compareAndSet(State.OPEN, State.FAILED);
		return seen;
	}

	/**
	 * Derives another communicator from this one, which may have failed.
	 * @return the new communicator's handle
	 */
	HandleSlot derive(String call, Deadline deadline, Derivation derivation) {
		HandleSlot child = new HandleSlot();
		takeTurn(call, deadline);
		try (SelectedDevice _ = SelectedDevice.select(this.library.runtime(), device())) {
			NcclResult[] answer = { NcclResult.of(deriving(call, deadline, derivation, child)) };
			boolean done = IdleStrategy.await(() -> {
				if (answer[0] == NcclResult.IN_PROGRESS && child.handle() == 0) {
					answer[0] = derived(call, deadline);
				}
				return answer[0] != NcclResult.IN_PROGRESS || child.handle() != 0;
			}, deadline);
			if (!done) {
				throw tooLate(call, deadline);
			}
			if (answer[0] != NcclResult.SUCCESS && answer[0] != NcclResult.IN_PROGRESS) {
				throw failed(call, answer[0]);
			}
		}
		catch (DeviceException ex) {
			throw ex.onRank(this.place.rank(), this.place.worldSize());
		}
		finally {
			this.turn.unlock();
		}
		return child;
	}

	private int deriving(String call, Deadline deadline, Derivation derivation, HandleSlot child) {
		takeGate(call, deadline);
		try {
			if (this.state.get() != State.FAILED) {
				requireOpen(call);
			}
			return derivation.on(this.library.nccl(), this.handle, child.address());
		}
		finally {
			this.gate.unlock();
		}
	}

	/**
	 * Progress of a derivation. A split in which this rank has no color succeeds without
	 * a handle. A failed parent keeps reporting its old error, so only the handle shows
	 * progress.
	 */
	private NcclResult derived(String call, Deadline deadline) {
		if (this.state.get() == State.FAILED) {
			return NcclResult.IN_PROGRESS;
		}
		return NcclResult.of(guarded(call, deadline, Communicator::progress));
	}

	/** Aborts and builds the exception for a missed deadline or an interrupt. */
	NcclException tooLate(String call, Deadline deadline) {
		boolean abortedHere = abort();
		if (!abortedHere || Thread.currentThread().isInterrupted()) {
			return NcclException.aborted(this.place, call);
		}
		return NcclException.timeout(this.place, call, deadline.timeout());
	}

	/**
	 * Aborts the communicator, including calls in progress.
	 * @return whether this call did so
	 */
	boolean abort() {
		if (!this.state.compareAndSet(State.OPEN, State.ABORTED)
				&& !this.state.compareAndSet(State.FAILED, State.ABORTED)
				&& !this.state.compareAndSet(State.CLOSING, State.ABORTED)) {
			return false;
		}
		this.gate.insist(() -> this.library.nccl().commAbort(this.handle));
		return true;
	}

	/**
	 * Closes the communicator after issued calls have finished. Aborts it if that fails
	 * or misses the deadline. Only the first close or abort has an effect.
	 */
	void close(Deadline deadline) {
		if (this.state.get() == State.FAILED) {
			abort();
		}
		if (!this.state.compareAndSet(State.OPEN, State.CLOSING)) {
			return;
		}
		boolean finished;
		try (SelectedDevice _ = SelectedDevice.select(this.library.runtime(), device())) {
			finished = finalised(deadline);
		}
		catch (RuntimeException ex) {
			abort();
			throw ex;
		}
		if (!finished) {
			abort();
		}
		else if (this.state.compareAndSet(State.CLOSING, State.CLOSED)) {
			this.gate.insist(() -> this.library.nccl().commDestroy(this.handle));
		}
	}

	private boolean finalised(Deadline deadline) {
		int[] code = { ending(deadline, Nccl::commFinalize) };
		IdleStrategy.await(() -> {
			if (code[0] == NcclResult.IN_PROGRESS.ordinal() && this.state.get() == State.CLOSING) {
				code[0] = ending(deadline, Communicator::progress);
			}
			return code[0] != NcclResult.IN_PROGRESS.ordinal() || this.state.get() != State.CLOSING;
		}, deadline);
		return code[0] == NcclResult.SUCCESS.ordinal();
	}

	/**
	 * Returns an error if another thread's native call does not return by the deadline.
	 */
	private int ending(Deadline deadline, Issue issue) {
		if (!this.gate.tryLock(deadline.remainingNanos())) {
			return NcclResult.INTERNAL_ERROR.ordinal();
		}
		try {
			if (this.state.get() == State.ABORTED) {
				return NcclResult.INTERNAL_ERROR.ordinal();
			}
			return issue.on(this.library.nccl(), this.handle);
		}
		finally {
			this.gate.unlock();
		}
	}

}
