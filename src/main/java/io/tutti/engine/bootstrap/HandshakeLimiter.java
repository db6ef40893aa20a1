package io.tutti.engine.bootstrap;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;

import io.tutti.engine.tls.PeerSocket;
import org.jspecify.annotations.Nullable;

/**
 * The accepted connections of one port that have not authenticated yet, oldest first.
 * Their number is limited in total. When the limit is reached, the address with the most
 * connections loses its oldest one, as soon as that one has had the time that a rank
 * needs: slow or hostile clients of one address displace each other and delay a rank of
 * another address only briefly. Thread-safe.
 */
final class HandshakeLimiter {

	/** A rank answers in a round trip: this part of the time limit is enough for it. */
	private static final int FAIR_DIVISOR = 20;

	private record Pending(String address, long sinceNanos) {
	}

	private final int limit;

	private final long fairNanos;

	private final Map<SocketChannel, Pending> pending = new LinkedHashMap<>();

	private boolean closed;

	/**
	 * @param limit connections at once
	 * @param handshakeLimit time for one handshake
	 */
	HandshakeLimiter(int limit, Duration handshakeLimit) {
		this.limit = limit;
		this.fairNanos = handshakeLimit.toNanos() / FAIR_DIVISOR;
	}

	/** Returns when there is room for one more connection. */
	synchronized void awaitRoom() throws InterruptedException {
		while (this.pending.size() >= this.limit) {
			SocketChannel victim = oldestOfTheBusiestAddress();
			Pending entry = (victim != null) ? this.pending.get(victim) : null;
			long leftNanos = (entry != null) ? this.fairNanos - (System.nanoTime() - entry.sinceNanos()) : 0;
			if (victim == null || leftNanos <= 0) {
				closeOldest();
				return;
			}
			wait(leftNanos / 1_000_000 + 1);
		}
	}

	/** Adds a connection, or closes it if the port is closed. */
	synchronized void add(SocketChannel channel) {
		if (this.closed) {
			close(channel);
			return;
		}
		this.pending.put(channel, new Pending(address(channel), System.nanoTime()));
	}

	/**
	 * The connection has authenticated or is closed.
	 * @return whether it was still pending
	 */
	synchronized boolean remove(SocketChannel channel) {
		boolean present = this.pending.remove(channel) != null;
		notifyAll();
		return present;
	}

	/** Closes one connection, so that its descriptor can be used again. */
	synchronized void closeOldest() {
		SocketChannel victim = oldestOfTheBusiestAddress();
		if (victim != null) {
			this.pending.remove(victim);
			close(victim);
		}
	}

	private @Nullable SocketChannel oldestOfTheBusiestAddress() {
		Map<String, Integer> counts = new HashMap<>();
		this.pending.values().forEach((entry) -> counts.merge(entry.address(), 1, Integer::sum));
		SocketChannel victim = null;
		int most = 0;
		for (Map.Entry<SocketChannel, Pending> entry : this.pending.entrySet()) {
			int count = counts.getOrDefault(entry.getValue().address(), 0);
			if (count > most) {
				most = count;
				victim = entry.getKey();
			}
		}
		return victim;
	}

	/** Closes all connections, and those that are added from now on. */
	synchronized void close() {
		this.closed = true;
		this.pending.keySet().forEach(HandshakeLimiter::close);
		this.pending.clear();
		notifyAll();
	}

	private static String address(SocketChannel channel) {
		try {
			SocketAddress remote = channel.getRemoteAddress();
			return (remote instanceof InetSocketAddress inet) ? inet.getAddress().getHostAddress() : "";
		}
		catch (IOException ex) {
			return "";
		}
	}

	private static void close(SocketChannel channel) {
		new PeerSocket(channel).close();
	}

}
