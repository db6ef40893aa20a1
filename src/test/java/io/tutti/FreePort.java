package io.tutti;

import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Ports for servers of tests. They are below the range from which the kernel takes ports
 * for outgoing connections, and none is given twice, so that a port that is free when it
 * is given is free when the server listens. The next three ports are not given either:
 * they are for the other ranks of a host.
 */
public final class FreePort {

	private static final int FIRST = 10_000;

	private static final int LAST = 32_000;

	private static final int STEP = 4;

	/** Test processes that run at once begin at different ports. */
	private static final AtomicInteger NEXT = new AtomicInteger(
			(int) (ProcessHandle.current().pid() * 37 % (LAST - FIRST)));

	private FreePort() {
	}

	/**
	 * A port on which no process listens. Found by a connection that is refused: a socket
	 * that listens here for a moment could be inherited by a process that another test
	 * starts, which holds the port until it closes what it does not need.
	 */
	public static int next() {
		while (true) {
			int port = FIRST + Math.floorMod(NEXT.getAndAdd(STEP), LAST - FIRST);
			try (Socket _ = new Socket(InetAddress.getLoopbackAddress(), port)) {
				// Another process has this one.
			}
			catch (IOException ex) {
				return port;
			}
		}
	}

}
