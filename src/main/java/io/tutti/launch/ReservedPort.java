package io.tutti.launch;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;

/**
 * A port of launched ranks: of the rendezvous, or of a rank's endpoint. A free port is
 * reserved by a bound socket that does not listen. The kernel gives the port to no other
 * process, and a rank can listen on it as long as both sockets set {@code SO_REUSEADDR}
 * (server sockets of the JVM do).
 */
final class ReservedPort implements AutoCloseable {

	private final int number;

	private final SocketChannel held;

	private ReservedPort(int number, SocketChannel held) {
		this.number = number;
		this.held = held;
	}

	/** A free port of this machine, reserved until this object is closed. */
	static ReservedPort free() {
		try {
			SocketChannel socket = SocketChannel.open();
			socket.setOption(StandardSocketOptions.SO_REUSEADDR, true);
			socket.bind(new InetSocketAddress(0));
			return new ReservedPort(((InetSocketAddress) socket.getLocalAddress()).getPort(), socket);
		}
		catch (IOException ex) {
			throw new UncheckedIOException("no free port", ex);
		}
	}

	int number() {
		return this.number;
	}

	@Override
	public void close() {
		try {
			this.held.close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException("cannot release port " + this.number, ex);
		}
	}

}
