package io.tutti;

import java.util.concurrent.Executor;

/**
 * Runs each task of a test on a thread of its own. On two cores the common pool has one
 * thread, for which tests that run at the same time would wait.
 */
public final class OwnThread {

	/** Of the platform, since some tasks block in native code. */
	public static final Executor EXECUTOR = (task) -> Thread.ofPlatform().daemon().start(task);

	private OwnThread() {
	}

}
