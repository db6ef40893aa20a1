package io.tutti.engine.backend.nccl;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

import io.tutti.engine.failure.FailureReporter;
import io.tutti.engine.spi.Call;
import io.tutti.engine.spi.CallReport;

/**
 * Reports this rank's device calls to rank 0, off the call path. Calls are batched per
 * millisecond into one message. The batch is bounded: the call that fills it sends it at
 * once. The thread starts with a call and ends after a period without calls. Thread-safe.
 */
final class CallReports implements AutoCloseable {

	/** Batching interval. */
	static final Duration INTERVAL = Duration.ofMillis(1);

	/** More calls than fit in a millisecond, since each takes some microseconds. */
	static final int CAPACITY = 128;

	/**
	 * Intervals without a call until the thread ends: longer than a training step, so
	 * that a step does not start a new thread.
	 */
	private static final int IDLE_INTERVALS = 100;

	private final String group;

	private final String threadName;

	private final FailureReporter reporter;

	/** Guarded by this, as are all fields below. */
	private final List<CallReport> gathered = new ArrayList<>(CAPACITY);

	private boolean running;

	private boolean closed;

	/**
	 * @param reporter receives the calls, in order
	 */
	CallReports(String group, int worldRank, FailureReporter reporter) {
		this.group = group;
		this.threadName = "tutti-r" + worldRank + "-" + group + "-nccl-reports";
		this.reporter = reporter;
	}

	/** Records the start of a call. */
	void begun(Call call) {
		CallReport report = CallReport.begun(this.group, call);
		boolean startsThread;
		synchronized (this) {
			if (this.closed) {
				return;
			}
			this.gathered.add(report);
			if (this.gathered.size() == CAPACITY) {
				send();
			}
			startsThread = !this.running;
			this.running = true;
		}
		if (startsThread) {
			Thread.ofPlatform().name(this.threadName).daemon().start(this::run);
		}
	}

	private void run() {
		int idle = 0;
		do {
			LockSupport.parkNanos(INTERVAL.toNanos());
			idle = sendAny() ? 0 : idle + 1;
		}
		while (continues(idle));
	}

	private synchronized boolean sendAny() {
		boolean any = !this.gathered.isEmpty();
		if (any) {
			send();
		}
		return any;
	}

	/** Runs under the lock to keep the order of calls; never blocks. */
	private synchronized void send() {
		this.reporter.reportCalls(List.copyOf(this.gathered));
		this.gathered.clear();
	}

	private synchronized boolean continues(int idle) {
		this.running = !this.closed && (idle < IDLE_INTERVALS || !this.gathered.isEmpty());
		return this.running;
	}

	/** Sends the remaining calls; later calls are not reported. */
	@Override
	public synchronized void close() {
		this.closed = true;
		sendAny();
	}

}
