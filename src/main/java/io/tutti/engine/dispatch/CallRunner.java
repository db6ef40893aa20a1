package io.tutti.engine.dispatch;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;

import io.tutti.Collective;
import io.tutti.CollectiveException;
import io.tutti.DataType;
import io.tutti.Failure;
import io.tutti.ReduceOp;
import io.tutti.Work;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.Agreement;
import io.tutti.engine.spi.GroupBackend;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.CallOrigin;
import io.tutti.engine.spi.CallReport;
import io.tutti.engine.spi.CallSignature;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.GroupStateException;
import org.jspecify.annotations.Nullable;

/**
 * Takes a group's calls from the API to the backend: argument checks, issue order,
 * staging of heap buffers, and failure handling.
 */
final class CallRunner implements AutoCloseable {

	private final GroupIdentity identity;

	private final GroupBackend backend;

	private final FailureLatch latch;

	private final IssueOrder order = new IssueOrder();

	/** The call whose turn it is. Only the thread that holds the turn may access it. */
	private final Call call;

	private final BufferValidation buffers;

	private final CallStaging staging = new CallStaging();

	private final GroupWorker worker;

	private final FlightRecorder recorder;

	private final ConsistencyCheck check;

	private volatile boolean closed;

	CallRunner(GroupIdentity identity, GroupBackend backend, FailureLatch latch) {
		this.identity = identity;
		this.backend = backend;
		this.latch = latch;
		this.recorder = FlightRecorder.of(identity);
		this.check = new ConsistencyCheck(identity.name(), this.recorder, latch);
		this.call = new Call(identity.worldSize(), this.check);
		this.buffers = new BufferValidation(identity, backend);
		this.worker = new GroupWorker(identity);
	}

	FlightRecorder recorder() {
		return this.recorder;
	}

	/**
	 * What was called at a sequence number, {@code null} if the recorder no longer holds
	 * it or it has not begun. In the latter case it is reported later.
	 */
	@Nullable CallReport called(long sequence) {
		return this.check.called(sequence);
	}

	/**
	 * Runs a call on this thread. Takes separate parameters because a record would be
	 * allocated per call.
	 * @param sendCounts {@code null} if all parts have the same size
	 * @param receiveCounts {@code null} if every rank passes the same counts
	 */
	void run(Collective collective, MemorySegment send, MemorySegment receive, DataType type, @Nullable ReduceOp op,
			int root, long @Nullable [] sendCounts, long @Nullable [] receiveCounts, CallOptions options) {
		long count = this.buffers.check(collective, send, receive, type, op, root, sendCounts, receiveCounts, false);
		run(collective, count, send, receive, type, op, root, sendCounts, receiveCounts, options);
	}

	/**
	 * Runs an all-gather by which the ranks agree on a change of the group.
	 * @return its sequence number
	 */
	long agree(Agreement on, MemorySegment send, MemorySegment receive, CallOptions options) {
		long count = this.buffers.check(Collective.ALL_GATHER, send, receive, DataType.UINT8, null, 0, null, null,
				false);
		CallOptions labelled = options.label().isEmpty() ? options.withLabel(on.toString()) : options;
		return run(Collective.ALL_GATHER, count, send, receive, DataType.UINT8, null, on.markerRoot(), null, null,
				labelled);
	}

	/** Returns the sequence number. */
	private long run(Collective collective, long count, MemorySegment send, MemorySegment receive, DataType type,
			@Nullable ReduceOp op, int root, long @Nullable [] sendCounts, long @Nullable [] receiveCounts,
			CallOptions options) {
		requireAnotherThread(collective);
		requireOpen(collective);
		long issuedNanos = System.nanoTime();
		long ticket = this.order.draw(1);
		long startedNanos = awaitTurn(ticket, 1, collective, issuedNanos, options);
		try {
			describe(ticket, collective, count, type, op, root, issuedNanos, options);
			this.call.counts(sendCounts, receiveCounts);
			runInTurn(send, receive, null, issuedNanos, startedNanos);
			return ticket;
		}
		finally {
			this.order.pass(ticket);
		}
	}

	private void requireAnotherThread(Collective collective) {
		if (this.worker.isCurrentThread()) {
			throw new GroupStateException(CallOrigin.in(this.identity).of(collective), "a synchronous " + collective
					+ " on the worker thread of the group would wait for itself; use its async form", null);
		}
	}

	/**
	 * Runs a call in place on several buffers on this thread, as successive calls of
	 * which no other call gets between.
	 */
	void runAll(Collective collective, List<MemorySegment> buffers, DataType type, @Nullable ReduceOp op, int root,
			CallOptions options) {
		requireAnotherThread(collective);
		List<List<MemorySegment>> packs = packs(collective, buffers, type, op, root, false);
		requireOpen(collective);
		long issuedNanos = System.nanoTime();
		long ticket = this.order.draw(packs.size());
		awaitTurn(ticket, packs.size(), collective, issuedNanos, options);
		try {
			runPacks(ticket, collective, packs, sizes(buffers), type, op, root, issuedNanos, options, false);
		}
		finally {
			this.order.pass(ticket + packs.size() - 1);
		}
	}

	private List<List<MemorySegment>> packs(Collective collective, List<MemorySegment> buffers, DataType type,
			@Nullable ReduceOp op, int root, boolean asynchronous) {
		this.buffers.checkList(collective, buffers, type, op, root, asynchronous);
		return CallStaging.packs(buffers, !this.backend.takesDeviceMemory());
	}

	private static int sizes(List<MemorySegment> buffers) {
		return Call.digestOfSizes(buffers.stream().mapToLong(MemorySegment::byteSize).toArray());
	}

	private void runPacks(long first, Collective collective, List<List<MemorySegment>> packs, int sizes, DataType type,
			@Nullable ReduceOp op, int root, long issuedNanos, CallOptions options, boolean asynchronous) {
		for (int i = 0; i < packs.size(); i++) {
			List<MemorySegment> pack = packs.get(i);
			describe(first + i, collective, CallStaging.bytes(pack) / type.bytes(), type, op, root, issuedNanos,
					options);
			this.call.bufferSizes(sizes);
			long startedNanos = System.nanoTime();
			if (pack.size() != 1) {
				runInTurn(MemorySegment.NULL, MemorySegment.NULL, pack, issuedNanos, startedNanos);
				continue;
			}
			MemorySegment buffer = pack.getFirst();
			if (asynchronous) {
				ArenaHold.run(buffer, buffer, () -> runInTurn(buffer, buffer, null, issuedNanos, startedNanos));
			}
			else {
				runInTurn(buffer, buffer, null, issuedNanos, startedNanos);
			}
		}
	}

	/**
	 * The call that now has its turn; its deadline counts from the issue. In a broken
	 * group the backend may still read the call that failed.
	 */
	private void describe(long ticket, Collective collective, long count, DataType type, @Nullable ReduceOp op,
			int root, long issuedNanos, CallOptions options) {
		this.latch.requireNotBroken(this.identity);
		this.call.deadline().restart(issuedNanos, options.timeoutNanos());
		this.call.describe(ticket, collective, count, type, op, root);
		this.call.label(options.label());
	}

	/**
	 * Time at which the call's turn came. Does not read the clock if the turn was free at
	 * once. A call whose deadline passes gives up its turn only with the verdict, which
	 * fails the calls behind it: the other ranks would get them in its place.
	 */
	private long awaitTurn(long ticket, int tickets, Collective collective, long issuedNanos, CallOptions options) {
		if (this.order.isTurn(ticket)) {
			return issuedNanos;
		}
		if (!this.order.awaitTurn(ticket, issuedNanos, options.timeoutNanos())) {
			try {
				throw waitedForItsTurn(ticket, collective, issuedNanos, options);
			}
			finally {
				this.order.forgo(ticket, tickets);
			}
		}
		return System.nanoTime();
	}

	/** As {@link #run} on the worker thread. */
	Work<Void> runAsync(Collective collective, MemorySegment send, MemorySegment receive, DataType type,
			@Nullable ReduceOp op, int root, long @Nullable [] sendCounts, long @Nullable [] receiveCounts,
			CallOptions options) {
		long[] ownSendCounts = (sendCounts != null) ? sendCounts.clone() : null;
		long[] ownReceiveCounts = (receiveCounts != null) ? receiveCounts.clone() : null;
		long count = this.buffers.check(collective, send, receive, type, op, root, ownSendCounts, ownReceiveCounts,
				true);
		return submit(collective, 1, options, (ticket, issuedNanos) -> {
			describe(ticket, collective, count, type, op, root, issuedNanos, options);
			this.call.counts(ownSendCounts, ownReceiveCounts);
			ArenaHold.run(send, receive, () -> runInTurn(send, receive, null, issuedNanos, System.nanoTime()));
		});
	}

	/** As {@link #runAll} on the worker thread. */
	Work<Void> runAllAsync(Collective collective, List<MemorySegment> buffers, DataType type, @Nullable ReduceOp op,
			int root, CallOptions options) {
		List<List<MemorySegment>> packs = packs(collective, buffers, type, op, root, true);
		int sizes = sizes(buffers);
		return submit(collective, packs.size(), options, (ticket, issuedNanos) -> runPacks(ticket, collective, packs,
				sizes, type, op, root, issuedNanos, options, true));
	}

	/** What a call does once its turn has come. */
	private interface Turn {

		void run(long ticket, long issuedNanos);

	}

	/**
	 * Queues a call for the worker thread. The work completes after the turn is passed
	 * on, so that the group may be closed once the work is done, or at its deadline.
	 * @param tickets how many sequence numbers the call takes
	 */
	private Work<Void> submit(Collective collective, int tickets, CallOptions options, Turn turn) {
		requireOpen(collective);
		long issuedNanos = System.nanoTime();
		CompletableFuture<Void> result = new CompletableFuture<>();
		AtomicBoolean taken = new AtomicBoolean();
		long drawn = this.worker.submit(() -> this.order.draw(tickets), (ticket) -> {
			this.order.awaitTurn(ticket);
			Throwable failure = null;
			try {
				if (taken.compareAndSet(false, true)) {
					turn.run(ticket, issuedNanos);
				}
				else {
					// Ends with the verdict.
					result.join();
				}
			}
			catch (RuntimeException | Error ex) {
				failure = ex;
			}
			finally {
				this.order.pass(ticket + tickets - 1);
			}
			complete(result, failure);
		});
		if (!this.order.isTurn(drawn)) {
			expire(result, taken, options.timeoutNanos() - (System.nanoTime() - issuedNanos),
					() -> waitedForItsTurn(drawn, collective, issuedNanos, options));
		}
		return new EngineWork<>(result, collective + " #" + drawn, this.latch::abort, () -> false);
	}

	private static void complete(CompletableFuture<Void> result, @Nullable Throwable failure) {
		if (failure == null) {
			result.complete(null);
		}
		else {
			result.completeExceptionally(failure);
		}
	}

	/** Fails a queued call at its deadline if its turn has not come by then. */
	private static void expire(CompletableFuture<Void> result, AtomicBoolean taken, long leftNanos,
			Supplier<CollectiveException> failure) {
		CompletableFuture<Void> alarm = new CompletableFuture<>();
		alarm.orTimeout(leftNanos, TimeUnit.NANOSECONDS).exceptionally((ex) -> {
			Thread.startVirtualThread(() -> {
				if (taken.compareAndSet(false, true)) {
					result.completeAsync(() -> {
						throw failure.get();
					}, Runnable::run);
				}
			});
			return null;
		});
		result.whenComplete((done, ex) -> alarm.complete(null));
	}

	/**
	 * The deadline of a call passed before its turn came. The ranks that delay the
	 * running call delay this one too, so the failure names the running call.
	 */
	private CollectiveException waitedForItsTurn(long ticket, Collective collective, long issuedNanos,
			CallOptions options) {
		Duration elapsed = Duration.ofNanos(System.nanoTime() - issuedNanos);
		if (Thread.currentThread().isInterrupted()) {
			Failure interrupted = new Failure(Failure.Kind.ABORTED, this.identity.name(), ticket, collective,
					List.of(this.identity.worldRank()),
					"the calling thread was interrupted while the call waited its turn", elapsed, options.timeout());
			return this.latch.reportAndAwaitVerdict(this.identity.exception(interrupted, new InterruptedException()));
		}
		long running = this.order.serving();
		CallSignature found = this.recorder.find(running);
		Failure failure = new Failure(Failure.Kind.TIMEOUT, this.identity.name(), running,
				(found != null) ? found.collective() : null, List.of(),
				collective + " #" + ticket + " waited behind it until its own deadline", elapsed, options.timeout());
		return this.latch.reportAndAwaitVerdict(this.identity.exception(failure, null));
	}

	private void requireOpen(Collective collective) {
		if (this.closed) {
			throw GroupStateException.closed(CallOrigin.in(this.identity).of(collective));
		}
	}

	/**
	 * Fails a call whose turn has come after the group was closed: one that was issued
	 * before has broken the group.
	 */
	private void refuse() {
		try {
			this.latch.requireNotBroken(this.identity);
		}
		catch (CollectiveException ex) {
			throw this.call.named(ex, this.identity.name());
		}
		requireOpen(this.call.issued().collective());
	}

	/**
	 * Runs the described call.
	 * @param pack buffers to be copied side by side, in place of {@code send} and
	 * {@code receive}; {@code null} for none
	 */
	private void runInTurn(MemorySegment send, MemorySegment receive, @Nullable List<MemorySegment> pack,
			long issuedNanos, long startedNanos) {
		if (this.closed) {
			refuse();
		}
		long bytes = (pack != null) ? CallStaging.bytes(pack) : Math.max(send.byteSize(), receive.byteSize());
		this.recorder.begin(this.call, bytes, issuedNanos, startedNanos);
		this.check.begun(this.call);
		boolean well = false;
		try {
			if (pack != null) {
				MemorySegment packed = this.staging.gather(pack);
				runStaged(packed, packed);
				this.staging.scatter(pack);
			}
			else {
				runStaged(send, receive);
			}
			well = true;
		}
		catch (CollectiveException ex) {
			throw this.call.named(this.latch.reportAndAwaitVerdict(ex), this.identity.name());
		}
		catch (RuntimeException ex) {
			throw this.latch.abortCall(this.call, ex);
		}
		catch (Error ex) {
			ex.addSuppressed(this.latch.abortCall(this.call, ex));
			throw ex;
		}
		finally {
			this.recorder.end(this.call, well);
			this.check.ended(this.call);
			Reference.reachabilityFence(send);
			Reference.reachabilityFence(receive);
		}
	}

	private void runStaged(MemorySegment send, MemorySegment receive) {
		BufferValidation.requireOpen(this.call, send, receive);
		this.staging.place(this.call, send, receive);
		runOnBackend(send, receive);
		this.staging.bringBack(receive);
	}

	/**
	 * A connection also fails if the kernel gets the address of closed memory. In that
	 * case the closed buffer is the cause, not the peer. Any other unchecked exception of
	 * the backend becomes a failure of the group with the place of the call.
	 */
	private void runOnBackend(MemorySegment send, MemorySegment receive) {
		this.call.memory(send.scope(), receive.scope());
		try {
			this.backend.run(this.call);
		}
		catch (CollectiveException ex) {
			if (ex.getCause() instanceof IOException) {
				BufferValidation.requireStillOpen(this.call, send, receive, ex);
			}
			throw ex;
		}
		catch (RuntimeException ex) {
			BufferValidation.requireStillOpen(this.call, send, receive, ex);
			throw this.latch.abortCall(this.call, ex);
		}
		finally {
			this.call.memory(null, null);
		}
		BufferValidation.requireStillOpen(this.call, send, receive, null);
	}

	/**
	 * Fails running and waiting calls with the same cause as on the other ranks, rejects
	 * new ones, and returns when no call runs any more.
	 */
	@Override
	public void close() {
		long ticket = this.order.draw(1);
		if (!this.order.isTurn(ticket)) {
			this.latch.abort("this rank closed the group during a call");
		}
		this.closed = true;
		this.order.awaitTurn(ticket);
		this.order.pass(ticket);
		this.worker.close();
		if (!this.backend.mayStillUseMemory()) {
			this.staging.close();
		}
	}

}
