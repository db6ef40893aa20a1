package io.tutti.engine.tls;

import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.util.concurrent.locks.LockSupport;

/**
 * Waits for a socket that does not block, by asking it at growing intervals. A virtual
 * thread that blocks in a socket starts a thread of the JVM that waits in the kernel for
 * as long as the process lives, and for which the JVM then waits 300 ms when it exits.
 */
public final class SocketWait {

	private static final long SHORTEST_NANOS = 100_000;

	/** There may be more than a thousand sockets at once. */
	private static final long LONGEST_NANOS = 50_000_000;

	/** The next pause is this part of the time that has passed. */
	private static final int DIVISOR = 16;

	private final HandshakeDeadline deadline;

	private final long startNanos = System.nanoTime();

	/**
	 * Begins to wait.
	 * @param deadline checked before each pause
	 */
	public SocketWait(HandshakeDeadline deadline) {
		this.deadline = deadline;
	}

	/**
	 * Pauses until the socket should be asked again.
	 * @throws ClosedByInterruptException if the thread is interrupted
	 * @throws IOException if the deadline ends the wait
	 */
	public void pause() throws IOException {
		this.deadline.check();
		if (Thread.currentThread().isInterrupted()) {
			throw new ClosedByInterruptException();
		}
		long waitedNanos = System.nanoTime() - this.startNanos;
		LockSupport.parkNanos(Math.clamp(waitedNanos / DIVISOR, SHORTEST_NANOS, LONGEST_NANOS));
	}

}
