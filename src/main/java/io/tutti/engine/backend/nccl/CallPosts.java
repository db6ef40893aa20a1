package io.tutti.engine.backend.nccl;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

import io.tutti.engine.Call;
import io.tutti.engine.CallReport;
import io.tutti.engine.FailureReporter;

/**
 * Tells rank 0 what this rank calls on the device, beside the way of the calls: what was
 * called within a millisecond goes in one message. Holds a bounded number of calls: who
 * comes when it is full sends them off at once. Its thread starts with a call and ends
 * soon after the last one. Safe for any number of threads.
 */
final class CallPosts implements AutoCloseable {

	/** How long calls are gathered. */
	static final Duration INTERVAL = Duration.ofMillis(1);

	/** More than a millisecond's calls, each of which takes some microseconds. */
	static final int CAPACITY = 128;

	/**
	 * Intervals without a call until the thread ends: longer than a step of training, so
	 * that there is not a new thread for each.
	 */
	private static final int IDLE_INTERVALS = 100;

	private final String group;

	private final String threadName;

	private final FailureReporter reporter;

	/** Guarded by this, as all below; held for as long as it takes to add a call. */
	private final List<CallReport> gathered = new ArrayList<>(CAPACITY);

	private boolean running;

	private boolean closed;

	/**
	 * @param reporter hears of the calls, in order
	 */
	CallPosts(String group, int worldRank, FailureReporter reporter) {
		this.group = group;
		this.threadName = "tutti-r" + worldRank + "-" + group + "-nccl-posts";
		this.reporter = reporter;
	}

	/** A call begins. */
	void begun(Call call) {
		CallReport post = CallReport.begun(this.group, call);
		boolean starts;
		synchronized (this) {
			if (this.closed) {
				return;
			}
			this.gathered.add(post);
			if (this.gathered.size() == CAPACITY) {
				send();
			}
			starts = !this.running;
			this.running = true;
		}
		if (starts) {
			Thread.ofPlatform().name(this.threadName).daemon().start(this::run);
		}
	}

	private void run() {
		int idle = 0;
		do {
			LockSupport.parkNanos(INTERVAL.toNanos());
			idle = sendAny() ? 0 : idle + 1;
		}
		while (goesOn(idle));
	}

	private synchronized boolean sendAny() {
		boolean any = !this.gathered.isEmpty();
		if (any) {
			send();
		}
		return any;
	}

	/** Within the lock, so that no call overtakes another; never waits. */
	private synchronized void send() {
		this.reporter.post(List.copyOf(this.gathered));
		this.gathered.clear();
	}

	private synchronized boolean goesOn(int idle) {
		this.running = !this.closed && (idle < IDLE_INTERVALS || !this.gathered.isEmpty());
		return this.running;
	}

	/** Sends what is left; calls that come later are not told any more. */
	@Override
	public synchronized void close() {
		this.closed = true;
		sendAny();
	}

}
