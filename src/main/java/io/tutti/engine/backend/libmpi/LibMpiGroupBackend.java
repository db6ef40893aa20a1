package io.tutti.engine.backend.libmpi;

import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.locks.LockSupport;

import io.tutti.CollectiveException;
import io.tutti.Failure;
import io.tutti.ReduceOp;
import io.tutti.engine.algorithm.kernel.ReductionKernels;
import io.tutti.engine.failure.FailureLatch;
import io.tutti.engine.spi.GroupBackend;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.transport.IdleStrategy;
import org.jspecify.annotations.Nullable;

/**
 * Collectives by an MPI library. The library's thread does the work; the calling thread
 * waits and checks the deadline, the group's verdict and its interrupt flag. The library
 * determines the order of reduction and whether results are bitwise identical.
 */
public final class LibMpiGroupBackend implements GroupBackend, IdleStrategy.Condition {

	/** Completion wakes the caller from its sleep. */
	private static final IdleStrategy.Limits LIMITS = new IdleStrategy.Limits(200, 0, 0, 10_000_000, 10_000_000);

	/** Wait after which a call is reported to rank 0. */
	private static final long REPORT_AFTER_NANOS = 100_000_000;

	private final String name;

	private final GroupIdentity identity;

	private final MpiCommunicator communicator;

	private final FailureLatch latch;

	private final Duration gracePeriod;

	private final MpiCollective operation;

	private final IdleStrategy idle = new IdleStrategy(LIMITS, this);

	/** The call that this rank waits for. */
	private @Nullable Call call;

	/**
	 * @param name name of the backend
	 * @param gracePeriod time between a failure and the abort of the job
	 */
	public LibMpiGroupBackend(String name, GroupIdentity identity, MpiCommunicator communicator, FailureLatch latch,
			Duration gracePeriod) {
		this.name = name;
		this.identity = identity;
		this.communicator = communicator;
		this.latch = latch;
		this.gracePeriod = gracePeriod;
		this.operation = new MpiCollective(communicator, identity);
	}

	/** MPI counts in a C int, and so do the displacements of uneven calls. */
	@Override
	public long largestCount() {
		return Integer.MAX_VALUE;
	}

	/** The element type takes a part of the library's tag. */
	@Override
	public int largestTag() {
		return MessageTag.largest(this.communicator.world().largestTag());
	}

	@Override
	public String name() {
		return this.name;
	}

	@Override
	public String transport() {
		return this.communicator.world().version();
	}

	@Override
	public void run(Call call) {
		this.operation.prepare(call);
		this.communicator.world().submit(this.operation);
		this.call = call;
		this.idle.begin();
		try {
			while (!this.operation.isDone()) {
				this.idle.stalled();
			}
		}
		catch (CollectiveException ex) {
			this.operation.keepMemory();
			throw ex;
		}
		RuntimeException failure = this.operation.failure();
		if (failure != null) {
			throw this.identity.exception(
					this.identity.failure(Failure.Kind.ABORTED, call, String.valueOf(failure.getMessage())), failure);
		}
		this.operation.bringBack(call);
		if (call.op() == ReduceOp.AVERAGE && call.receiveBytes() > 0) {
			ReductionKernels.get()
				.finish(call.type(), ReduceOp.AVERAGE, call.receiveAddress(), call.receiveBytes() / call.type().bytes(),
						this.identity.worldSize());
		}
	}

	@Override
	public void check(long nowNanos) {
		Call call = Objects.requireNonNull(this.call);
		Failure obstacle = this.latch.obstacleTo(call, this.identity);
		if (obstacle == null && call.deadline().expired()) {
			obstacle = this.identity.failure(Failure.Kind.TIMEOUT, call, "the MPI library did not complete it");
		}
		if (obstacle == null && Thread.currentThread().isInterrupted()) {
			obstacle = this.identity.failure(Failure.Kind.ABORTED, call, "the calling thread was interrupted");
		}
		if (obstacle != null) {
			throw this.identity.exception(obstacle, null);
		}
		if (call.deadline().elapsedNanos() > REPORT_AFTER_NANOS) {
			call.waited();
		}
	}

	@Override
	public void sleep(long maxNanos) {
		LockSupport.parkNanos(this, maxNanos);
	}

	/** The end of the job is scheduled as soon as the group breaks. */
	@Override
	public void wake() {
		this.operation.wake();
		Failure failure = this.latch.failure();
		if (failure != null) {
			this.communicator.world().abortAfter(failure, this.gracePeriod);
		}
	}

	/** After a failure requests may be in progress until the process ends. */
	@Override
	public boolean mayStillUseMemory() {
		return this.latch.failure() != null;
	}

	/** A communicator that may have requests in progress is not freed. */
	@Override
	public void close() {
		if (!mayStillUseMemory()) {
			this.communicator.world().free(this.communicator);
		}
	}

}
