package io.tutti.engine.tls;

import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.SocketChannel;
import java.time.Duration;

/**
 * Closes a connection whose output has ended so that the peer receives all of it. The
 * kernel resets a connection that is closed with unread input, and a reset drops the
 * output that is still queued.
 */
public final class LingeringClose {

	private static final int DISCARD_BYTES = 16 * 1024;

	private LingeringClose() {
	}

	/**
	 * Discards input until the peer ends its side, for at most the limit, and closes.
	 * @param socket registered with no open selector; blocks from now on
	 */
	public static void run(SocketChannel socket, Duration limit) {
		long startNanos = System.nanoTime();
		try (socket) {
			socket.configureBlocking(true);
			InputStream input = socket.socket().getInputStream();
			byte[] discarded = new byte[DISCARD_BYTES];
			long leftMillis = limit.toMillis();
			while (leftMillis > 0) {
				socket.socket().setSoTimeout((int) leftMillis);
				if (input.read(discarded) < 0) {
					return;
				}
				leftMillis = limit.toMillis() - (System.nanoTime() - startNanos) / 1_000_000;
			}
		}
		catch (IOException ex) {
			// The peer has reset the connection, or is too slow.
		}
	}

}
