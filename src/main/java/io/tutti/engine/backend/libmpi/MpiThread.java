package io.tutti.engine.backend.libmpi;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;

import io.tutti.engine.transport.IdleStrategy;

/**
 * The one thread that calls the MPI library: starts operations in the order they are
 * submitted and tests them until they are done. Only initialization, the exchange of
 * addresses, the creation of groups and finalization block in the library. Meanwhile only
 * the threads that wait for an operation check its deadline and the state of its group.
 */
final class MpiThread implements IdleStrategy.Condition {

	private final Queue<MpiOperation> submitted = new ConcurrentLinkedQueue<>();

	private final List<MpiOperation> active = new ArrayList<>();

	private final MpiCalls calls;

	private final Thread thread;

	private final IdleStrategy idle = new IdleStrategy(IdleStrategy.Limits.LIBRARY, this);

	private volatile boolean asleep;

	private volatile boolean ended;

	MpiThread(MpiCalls calls, int rank) {
		this.calls = calls;
		this.thread = Thread.ofPlatform().name("tutti-r" + rank + "-mpi").daemon().unstarted(this::run);
	}

	void start() {
		this.thread.start();
	}

	/** Queues an operation. */
	void submit(MpiOperation operation) {
		this.submitted.add(operation);
		if (this.asleep) {
			LockSupport.unpark(this.thread);
		}
	}

	/** Ends the thread once all submitted operations have started. */
	void end() {
		this.ended = true;
		LockSupport.unpark(this.thread);
	}

	private void run() {
		while (!this.ended || !this.submitted.isEmpty()) {
			if (begin() | test()) {
				this.idle.moved();
			}
			else if (this.active.isEmpty() && this.idle.spun()) {
				awaitOperation();
			}
			else {
				this.idle.stalled();
			}
		}
	}

	private boolean begin() {
		boolean moved = false;
		for (MpiOperation next = this.submitted.poll(); next != null; next = this.submitted.poll()) {
			moved = true;
			try {
				if (next.begin(this.calls)) {
					this.active.add(next);
				}
				else {
					next.end(null);
				}
			}
			catch (RuntimeException | Error ex) {
				next.end(failure(ex));
			}
		}
		return moved;
	}

	private boolean test() {
		boolean moved = false;
		for (int i = 0; i < this.active.size(); i++) {
			MpiOperation operation = this.active.get(i);
			RuntimeException failure = null;
			try {
				int code = this.calls.test(operation.request(), operation.flag(), operation.status());
				if (code < 0) {
					continue;
				}
				operation.ended(this.calls, code);
			}
			catch (RuntimeException | Error ex) {
				failure = failure(ex);
			}
			this.active.remove(i--);
			moved = true;
			operation.end(failure);
		}
		return moved;
	}

	/** An error fails its operation, too, and does not end the thread. */
	private static RuntimeException failure(Throwable thrown) {
		return (thrown instanceof RuntimeException ex) ? ex
				: new IllegalStateException("the MPI library could not be called", thrown);
	}

	@Override
	public void check(long nowNanos) {
		for (MpiOperation operation : this.active) {
			try {
				operation.inspect(this.calls);
			}
			catch (RuntimeException | Error ex) {
				operation.inspectionFailed(failure(ex));
			}
		}
	}

	@Override
	public void sleep(long maxNanos) {
		LockSupport.parkNanos(maxNanos);
	}

	private void awaitOperation() {
		this.asleep = true;
		if (this.submitted.isEmpty() && !this.ended) {
			LockSupport.park();
		}
		this.asleep = false;
	}

}
