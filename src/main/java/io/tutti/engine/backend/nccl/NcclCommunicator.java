package io.tutti.engine.backend.nccl;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.IntStream;

import io.tutti.engine.device.DeviceException;
import io.tutti.engine.device.SelectedDevice;
import io.tutti.engine.spi.CleanUp;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.transport.IdleStrategy;
import org.jspecify.annotations.Nullable;

/**
 * The NCCL communicators of this process's ranks in one world, which live and end
 * together: usually one, or one per device. Calls run one at a time, each with a
 * deadline. The communicators end exactly once, by close or abort. After a failure no
 * calls are accepted, but the communicator stays alive, so that the remaining ranks can
 * shrink it.
 * <p>
 * Two locks: a caller holds {@code turn} until its call is done; {@code gate} is held
 * only while native code runs, which is short in non-blocking mode; without it, as in
 * communicators made together, a call may wait there for other ranks. An abort waits only
 * for {@code gate}, and not for long, so it can run while a call waits.
 */
final class NcclCommunicator {

	/** An NCCL call that returns its result code. */
	interface Issue {

		int on(Nccl nccl, long communicator);

	}

	/** Life cycle state. */
	enum State {

		OPEN, FAILED, CLOSING, CLOSED, ABORTED, TRANSFERRED

	}

	/**
	 * Native memory to which NCCL writes the handles of communicators, during the call or
	 * later from its own thread.
	 */
	static final class HandleSlots {

		private final MemorySegment memory;

		HandleSlots(int count) {
			this.memory = Arena.ofAuto().allocate(ValueLayout.JAVA_LONG, count);
		}

		/** A slot with a known handle. */
		static HandleSlots of(long handle) {
			HandleSlots slots = new HandleSlots(1);
			slots.memory.set(ValueLayout.JAVA_LONG, 0, handle);
			return slots;
		}

		long address() {
			return this.memory.address();
		}

		/** The handle, or 0 until it is written. */
		long handle(int index) {
			return (long) ValueLayout.JAVA_LONG.varHandle().getAcquire(this.memory, (long) index * Long.BYTES);
		}

	}

	private static final Duration NO_LIMIT = ChronoUnit.FOREVER.getDuration();

	private final NcclLibrary library;

	private final HandleSlots slots;

	private final List<RankPlacement> places;

	private final ReentrantLock turn = new ReentrantLock(true);

	private final TimedLock gate = new TimedLock();

	private final AtomicReference<State> state = new AtomicReference<>(State.OPEN);

	private volatile @Nullable NcclException failure;

	/** Whether a call in progress cannot complete. */
	private volatile BooleanSupplier hopeless = () -> false;

	/**
	 * @param slots one handle per place
	 * @param places the ranks of this process
	 */
	NcclCommunicator(NcclLibrary library, HandleSlots slots, List<RankPlacement> places) {
		this.library = library;
		this.slots = slots;
		this.places = List.copyOf(places);
	}

	NcclLibrary library() {
		return this.library;
	}

	/** The ranks of this process. */
	List<RankPlacement> places() {
		return this.places;
	}

	/** The first rank of this process, whose failures are reported. */
	RankPlacement place() {
		return this.places.getFirst();
	}

	long handle() {
		return handle(0);
	}

	long handle(int index) {
		return this.slots.handle(index);
	}

	State state() {
		return this.state.get();
	}

	/**
	 * Aborts while a call is in progress that cannot complete.
	 * @param condition checked repeatedly
	 */
	void abortIf(BooleanSupplier condition) {
		this.hopeless = condition;
	}

	/** Called while a call is in progress. */
	void stillWaiting() {
		if (this.hopeless.getAsBoolean()) {
			abort();
		}
	}

	/**
	 * Issues a call and waits until NCCL has enqueued it; it may still run on the device.
	 * @throws NcclException if it fails, is aborted, or the deadline passes
	 */
	void issue(String call, Deadline deadline, Issue issue) {
		issue(call, deadline, issue, null);
	}

	/**
	 * Issues a call that may derive another communicator from this one, which may have
	 * failed before. NCCL reports the end of a derivation on this communicator, after it
	 * has written the handle, also that of a new communicator that failed.
	 * @param child receives the handle, none for a rank that a split gives no part;
	 * {@code null} if the call derives nothing
	 */
	void issue(String call, Deadline deadline, Issue issue, @Nullable HandleSlots child) {
		takeTurn(call, deadline);
		HandleSlots ofFailed = (this.state.get() == State.FAILED) ? child : null;
		try (SelectedDevice _ = selectDevice()) {
			NcclResult returned = guarded(call, deadline, issue, ofFailed != null);
			settle(call, (child != null) ? begun(returned) : returned, deadline, ofFailed);
		}
		catch (DeviceException ex) {
			throw onRank(ex);
		}
		finally {
			this.turn.unlock();
		}
	}

	/**
	 * Makes a call for memory, such as a registration, whose failure leaves the
	 * communicator open.
	 */
	void manage(String call, Deadline deadline, Issue issue) {
		takeTurn(call, deadline);
		try (SelectedDevice _ = selectDevice()) {
			require(call, guarded(call, deadline, issue, false));
		}
		finally {
			this.turn.unlock();
		}
	}

	/** Throws for an error that leaves the communicator as it is. */
	void require(String call, NcclResult result) {
		if (result != NcclResult.SUCCESS) {
			throw NcclException.error(place(), call, result, this.library.lastError());
		}
	}

	/** NCCL returns success from a derivation that is still in progress. */
	private static NcclResult begun(NcclResult returned) {
		return (returned == NcclResult.SUCCESS) ? NcclResult.IN_PROGRESS : returned;
	}

	/** Selects the device of this process's first rank for the current thread. */
	SelectedDevice selectDevice() {
		try {
			return SelectedDevice.select(this.library.runtime(), place().device());
		}
		catch (DeviceException ex) {
			throw onRank(ex);
		}
	}

	/** Issues a call on blocking communicators, which are never in progress. */
	void issueBlocking(String call, Issue issue) {
		NcclResult result = guarded(call, Deadline.after(NO_LIMIT), issue, false);
		if (result != NcclResult.SUCCESS) {
			throw failed(call, result);
		}
	}

	/** Waits until NCCL has no operation in progress, such as a creation. */
	void awaitReady(String call, Deadline deadline) {
		settle(call, NcclResult.IN_PROGRESS, deadline, null);
	}

	private DeviceException onRank(DeviceException failure) {
		return failure.onRank(place().rank(), place().worldSize());
	}

	private void takeTurn(String call, Deadline deadline) {
		try {
			if (!this.turn.tryLock(deadline.remainingNanos(), TimeUnit.NANOSECONDS)) {
				throw tooLate(call, deadline);
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw tooLate(call, deadline);
		}
	}

	/**
	 * Calls NCCL only while the communicator is open, and discards the result of a call
	 * that an abort has overtaken. A caller waits for another thread's native call until
	 * its own deadline.
	 * @param alsoFailed whether the call is allowed after a failure
	 */
	private NcclResult guarded(String call, Deadline deadline, Issue issue, boolean alsoFailed) {
		takeGate(call, deadline);
		try {
			if (!alsoFailed || this.state.get() != State.FAILED) {
				requireOpen(call);
			}
			int code = issue.on(this.library.nccl(), handle());
			if (this.state.get() == State.ABORTED) {
				throw NcclException.aborted(place(), call);
			}
			return NcclResult.of(code);
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

	/** Checks that calls are accepted. */
	void requireOpen(String call) {
		NcclException earlier = this.failure;
		switch (this.state.get()) {
			case OPEN -> {
			}
			case ABORTED -> throw NcclException.aborted(place(), call);
			case FAILED -> throw (earlier != null) ? NcclException.after(earlier, place(), call)
					: NcclException.aborted(place(), call);
			case CLOSING, CLOSED -> throw new IllegalStateException(call + ": the communicator is closed");
			case TRANSFERRED ->
				throw new IllegalStateException(call + ": the communicators were transferred by an earlier split");
		}
	}

	/**
	 * Waits until NCCL has no operation in progress.
	 * @param ofFailed handle derived from a communicator that had failed before: it shows
	 * success, since that communicator may still report its old error
	 */
	private void settle(String call, NcclResult first, Deadline deadline, @Nullable HandleSlots ofFailed) {
		NcclResult result = poll(first, deadline, () -> {
			NcclResult now = guarded(call, deadline, NcclCommunicator::asyncError, ofFailed != null);
			if (now == NcclResult.IN_PROGRESS) {
				stillWaiting();
			}
			return now;
		});
		if (result == NcclResult.IN_PROGRESS) {
			throw tooLate(call, deadline);
		}
		if (result != NcclResult.SUCCESS && (ofFailed == null || ofFailed.handle(0) == 0)) {
			throw failed(call, result);
		}
	}

	/**
	 * Repeats a query while NCCL is in progress.
	 * @return the last result; in progress if the deadline or an interrupt ended the wait
	 */
	private static NcclResult poll(NcclResult first, Deadline deadline, Supplier<NcclResult> query) {
		NcclResult[] last = { first };
		IdleStrategy.await(() -> {
			if (last[0] == NcclResult.IN_PROGRESS) {
				last[0] = query.get();
			}
			return last[0] != NcclResult.IN_PROGRESS;
		}, deadline);
		return last[0];
	}

	private static int asyncError(Nccl nccl, long communicator) {
		int[] error = new int[1];
		int code = nccl.commGetAsyncError(communicator, error);
		return (code == NcclResult.SUCCESS.ordinal()) ? error[0] : code;
	}

	/**
	 * Whether all work queued on a stream of the selected device is complete. The stream
	 * may be destroyed when the communicator ends and is not queried afterwards.
	 */
	boolean isIdle(String call, Deadline deadline, long stream) {
		takeGate(call, deadline);
		try {
			requireOpen(call);
			return this.library.runtime().isIdle(stream);
		}
		catch (DeviceException ex) {
			throw onRank(ex);
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
		NcclResult result = guarded(call, deadline, NcclCommunicator::asyncError, false);
		if (result != NcclResult.SUCCESS && result != NcclResult.IN_PROGRESS) {
			throw failed(call, result);
		}
	}

	private NcclException failed(String call, NcclResult result) {
		NcclException seen = NcclException.error(place(), call, result, this.library.lastError());
		this.failure = seen;
		this.state.compareAndSet(State.OPEN, State.FAILED);
		return seen;
	}

	/** Gives the handles to other owners, after the call in progress. */
	void transfer(String call) {
		takeGate(call, Deadline.after(NO_LIMIT));
		try {
			if (!this.state.compareAndSet(State.OPEN, State.TRANSFERRED)) {
				requireOpen(call);
			}
		}
		finally {
			this.gate.unlock();
		}
	}

	/** Aborts and builds the exception for a missed deadline or an interrupt. */
	NcclException tooLate(String call, Deadline deadline) {
		if (!abort()) {
			return NcclException.aborted(place(), call);
		}
		return Thread.currentThread().isInterrupted() ? NcclException.interrupted(place(), call)
				: NcclException.timeout(place(), call, deadline.timeout());
	}

	/**
	 * Aborts the communicators, including calls in progress.
	 * @return whether this call did so
	 */
	boolean abort() {
		if (!this.state.compareAndSet(State.OPEN, State.ABORTED)
				&& !this.state.compareAndSet(State.FAILED, State.ABORTED)
				&& !this.state.compareAndSet(State.CLOSING, State.ABORTED)) {
			return false;
		}
		this.gate.insist(() -> {
			for (int index = 0; index < this.places.size(); index++) {
				this.library.nccl().commAbort(handle(index));
			}
		});
		return true;
	}

	/**
	 * Closes the communicators after issued calls have finished. Aborts them if that
	 * fails or misses the deadline. Only the first close or abort has an effect.
	 * @param finish ends the use of the communicators and may be in progress
	 */
	void close(Deadline deadline, Issue finish) {
		if (this.state.get() == State.FAILED) {
			abort();
		}
		if (!this.state.compareAndSet(State.OPEN, State.CLOSING)) {
			return;
		}
		NcclResult finished;
		try (SelectedDevice _ = selectDevice()) {
			finished = poll(ending(deadline, finish), deadline, () -> ending(deadline, NcclCommunicator::asyncError));
		}
		catch (RuntimeException ex) {
			abort();
			throw ex;
		}
		if (finished != NcclResult.SUCCESS) {
			abort();
		}
		else if (this.state.compareAndSet(State.CLOSING, State.CLOSED)) {
			this.gate.insist(this::destroyEach);
		}
	}

	/**
	 * A call of the close. Returns an error if an abort has ended the communicator, or if
	 * another thread's native call does not return by the deadline.
	 */
	private NcclResult ending(Deadline deadline, Issue issue) {
		if (!this.gate.tryLock(deadline.remainingNanos())) {
			return NcclResult.INTERNAL_ERROR;
		}
		try {
			return (this.state.get() == State.CLOSING) ? NcclResult.of(issue.on(this.library.nccl(), handle()))
					: NcclResult.INTERNAL_ERROR;
		}
		finally {
			this.gate.unlock();
		}
	}

	/** Destroys every communicator, even if destroying an earlier one fails. */
	private void destroyEach() {
		CleanUp.runAll(
				IntStream.range(0, this.places.size()).<Runnable>mapToObj((index) -> () -> destroy(index)).toList());
	}

	private void destroy(int index) {
		try (SelectedDevice _ = SelectedDevice.select(this.library.runtime(), this.places.get(index).device())) {
			this.library.nccl().commDestroy(handle(index));
		}
	}

}
