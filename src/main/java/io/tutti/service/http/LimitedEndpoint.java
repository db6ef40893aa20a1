package io.tutti.service.http;

import java.nio.channels.SocketChannel;
import java.util.Comparator;
import java.util.List;

import org.apache.coyote.Processor;
import org.apache.tomcat.util.net.NioChannel;
import org.apache.tomcat.util.net.NioEndpoint;
import org.apache.tomcat.util.net.SocketWrapperBase;

/**
 * Accepts connections up to a limit. At the limit, the connections that have waited
 * longest for a complete request are closed: a client that holds many connections cannot
 * shut out one that sends its request at once, such as a probe.
 */
final class LimitedEndpoint extends NioEndpoint {

	/**
	 * Divisor of the limit: how many connections one scan closes, so that scans are rare.
	 */
	private static final int PART_CLOSED = 32;

	/** An idle connection and how long it has been idle. */
	private record Idle(SocketWrapperBase<NioChannel> socket, long idleMillis) {
	}

	private int limit = Integer.MAX_VALUE;

	void limit(int connections) {
		this.limit = (connections < 0) ? Integer.MAX_VALUE : connections;
	}

	/** Tomcat closes only connections that it has registered. */
	@Override
	protected boolean setSocketOptions(SocketChannel socket) {
		if (this.connections.size() >= this.limit) {
			closeLongestIdle(1 + this.limit / PART_CLOSED);
		}
		if (this.connections.size() >= this.limit) {
			destroySocket(socket);
			return false;
		}
		return super.setSocketOptions(socket);
	}

	private void closeLongestIdle(int count) {
		List<Idle> longestFirst = this.connections.values()
			.stream()
			.filter((socket) -> !isAsync(socket))
			.map((socket) -> new Idle(socket, idleMillis(socket)))
			.sorted(Comparator.comparingLong(Idle::idleMillis).reversed())
			.toList();
		int closed = 0;
		for (Idle idle : longestFirst) {
			if (closed < count && closeUnlessServing(idle.socket())) {
				closed++;
			}
		}
	}

	/** The thread that serves a request holds the socket's lock. */
	private static boolean closeUnlessServing(SocketWrapperBase<NioChannel> socket) {
		if (!socket.getLock().tryLock()) {
			return false;
		}
		try {
			if (isAsync(socket)) {
				return false;
			}
			socket.close();
			return true;
		}
		finally {
			socket.getLock().unlock();
		}
	}

	private static boolean isAsync(SocketWrapperBase<NioChannel> socket) {
		return socket.getCurrentProcessor() instanceof Processor processor && processor.isAsync();
	}

	private static long idleMillis(SocketWrapperBase<NioChannel> socket) {
		if (socket.getCurrentProcessor() instanceof LimitedProcessor incomplete) {
			return incomplete.headerMillis();
		}
		NioSocketWrapper silent = (NioSocketWrapper) socket;
		return System.currentTimeMillis() - Math.max(silent.getLastRead(), silent.getLastWrite());
	}

}
