package io.tutti.engine.transport.tcp;

import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Connections that have proved nothing yet. There is room for so many; when it is full,
 * the one that has been there longest has to go as soon as it has had the time that a
 * rank needs, so that silent strangers hold up the ranks for little.
 */
final class HandshakeLimiter {

	/** A rank answers in a round trip; this part of a handshake's limit is plenty. */
	private static final int FAIR_DIVISOR = 20;

	private final int room;

	private final long fairNanos;

	/** When each came; the one who came first comes first. */
	private final Map<SocketChannel, Long> waiting = new LinkedHashMap<>();

	HandshakeLimiter(int room, Duration handshakeLimit) {
		this.room = room;
		this.fairNanos = handshakeLimit.toNanos() / FAIR_DIVISOR;
	}

	/** Returns when there is room for one more, which takes little time at worst. */
	synchronized void awaitRoom() throws InterruptedException {
		while (this.waiting.size() >= this.room) {
			long sinceNanos = this.waiting.values().iterator().next();
			long leftNanos = this.fairNanos - (System.nanoTime() - sinceNanos);
			if (leftNanos <= 0) {
				hangUpOnFirst();
				return;
			}
			wait(leftNanos / 1_000_000 + 1);
		}
	}

	synchronized void enter(SocketChannel channel) {
		this.waiting.put(channel, System.nanoTime());
	}

	/** The connection has proved itself, or is closed. */
	synchronized void leave(SocketChannel channel) {
		this.waiting.remove(channel);
		notifyAll();
	}

	/** Gives a descriptor back. */
	synchronized void hangUpOnFirst() {
		Iterator<SocketChannel> oldestFirst = this.waiting.keySet().iterator();
		if (oldestFirst.hasNext()) {
			close(oldestFirst.next());
			oldestFirst.remove();
		}
	}

	static void close(SocketChannel channel) {
		try {
			channel.close();
		}
		catch (IOException ex) {
			// Nobody is left to be told about a connection that is given up.
		}
	}

}
