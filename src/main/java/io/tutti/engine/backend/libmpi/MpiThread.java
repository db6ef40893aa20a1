package io.tutti.engine.backend.libmpi;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;

import org.jspecify.annotations.Nullable;

/**
 * The one thread that calls the library: begins what it is given, in that order, and
 * tests what is under way until it is done. Nothing but the start, the making of groups
 * and the end blocks in there, so that deadlines and aborts are always heard.
 */
final class MpiThread {

	private static final int SPINS = 200;

	private static final long YIELD_NANOS = 1_000_000;

	/** Longest sleep between two tests: what a late message waits for at most. */
	private static final long SLEEP_NANOS = 100_000;

	private static final int ROUNDS_BETWEEN_LOOKS = 64;

	private final Queue<MpiOperation> inbox = new ConcurrentLinkedQueue<>();

	private final List<MpiOperation> active = new ArrayList<>();

	private final MpiLibrary library;

	private final Thread thread;

	private volatile boolean asleep;

	private volatile boolean ended;

	MpiThread(MpiLibrary library, int rank) {
		this.library = library;
		this.thread = Thread.ofPlatform().name("tutti-r" + rank + "-mpi").daemon().unstarted(this::run);
	}

	void start() {
		this.thread.start();
	}

	/** Hands an operation over. */
	void submit(MpiOperation operation) {
		this.inbox.add(operation);
		if (this.asleep) {
			LockSupport.unpark(this.thread);
		}
	}

	/** Ends the thread once what it has been given is begun. */
	void end() {
		this.ended = true;
		LockSupport.unpark(this.thread);
	}

	private void run() {
		MpiCalls calls = new MpiCalls(this.library);
		int idleRounds = 0;
		long idleSince = 0;
		while (!this.ended || !this.inbox.isEmpty()) {
			if (begin(calls) | test(calls)) {
				idleRounds = 0;
			}
			else if (idleRounds++ < SPINS) {
				Thread.onSpinWait();
			}
			else {
				long now = System.nanoTime();
				idleSince = (idleRounds == SPINS + 1) ? now : idleSince;
				if (idleRounds % ROUNDS_BETWEEN_LOOKS == 0) {
					inspect(now);
				}
				rest(now - idleSince);
			}
		}
	}

	private boolean begin(MpiCalls calls) {
		boolean moved = false;
		for (MpiOperation next = this.inbox.poll(); next != null; next = this.inbox.poll()) {
			moved = true;
			try {
				if (next.begin(calls)) {
					this.active.add(next);
				}
				else {
					next.end(null);
				}
			}
			catch (RuntimeException | Error ex) {
				next.end(asUnchecked(ex));
			}
		}
		return moved;
	}

	private boolean test(MpiCalls calls) {
		boolean moved = false;
		for (int i = 0; i < this.active.size(); i++) {
			MpiOperation operation = this.active.get(i);
			int code = calls.test(operation.request(), operation.flag(), operation.status());
			if (code >= 0) {
				this.active.remove(i--);
				moved = true;
				operation.end(outcome(operation, calls, code));
			}
		}
		return moved;
	}

	private static @Nullable RuntimeException outcome(MpiOperation operation, MpiCalls calls, int code) {
		try {
			operation.ended(calls, code);
			return null;
		}
		catch (RuntimeException ex) {
			return ex;
		}
	}

	private void inspect(long now) {
		for (MpiOperation operation : this.active) {
			operation.inspect(now);
		}
	}

	private void rest(long idleNanos) {
		if (!this.active.isEmpty()) {
			if (idleNanos < YIELD_NANOS) {
				Thread.yield();
			}
			else {
				LockSupport.parkNanos(SLEEP_NANOS);
			}
			return;
		}
		this.asleep = true;
		if (this.inbox.isEmpty() && !this.ended) {
			LockSupport.park();
		}
		this.asleep = false;
	}

	private static RuntimeException asUnchecked(Throwable failure) {
		return (failure instanceof RuntimeException unchecked) ? unchecked
				: new IllegalStateException("the MPI library could not be called", failure);
	}

}
