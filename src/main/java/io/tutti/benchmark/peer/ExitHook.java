package io.tutti.benchmark.peer;

import java.io.IOException;

/**
 * Runs an action when this JVM ends, unless it was closed before.
 *
 * @param thread runs the action
 */
record ExitHook(Thread thread) implements AutoCloseable {

	/**
	 * Adds a hook.
	 * @throws IOException if this JVM ends already, so that the action does not run
	 */
	static ExitHook add(String name, Runnable action) throws IOException {
		Thread thread = new Thread(action, name);
		try {
			Runtime.getRuntime().addShutdownHook(thread);
		}
		catch (IllegalStateException ex) {
			throw new IOException("this process ends", ex);
		}
		return new ExitHook(thread);
	}

	@Override
	public void close() {
		try {
			Runtime.getRuntime().removeShutdownHook(this.thread);
		}
		catch (IllegalStateException ex) {
			// The JVM ends and runs the action.
		}
	}

}
