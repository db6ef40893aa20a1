package io.tutti.launch;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;

import org.jspecify.annotations.Nullable;

/**
 * The rendezvous port of launched ranks. A free port is reserved by a bound socket that
 * does not listen. The kernel gives the port to no other process, and rank 0 can listen
 * on it as long as both sockets set {@code SO_REUSEADDR} (server sockets of the JVM do).
 */
final class RendezvousPort implements AutoCloseable {

	private final int number;

	private final @Nullable SocketChannel held;

	private RendezvousPort(int number, @Nullable SocketChannel held) {
		this.number = number;
		this.held = held;
	}

	/** A port that the user has chosen. */
	static RendezvousPort given(int number) {
		return new RendezvousPort(number, null);
	}

	/** A free port of this machine, reserved until this object is closed. */
	static RendezvousPort free() {
		try {
			SocketChannel socket = SocketChannel.open();
			socket.setOption(StandardSocketOptions.SO_REUSEADDR, true);
			socket.bind(new InetSocketAddress(0));
			return new RendezvousPort(((InetSocketAddress) socket.getLocalAddress()).getPort(), socket);
		}
		catch (IOException ex) {
			throw new UncheckedIOException("no free rendezvous port", ex);
		}
	}

	int number() {
		return this.number;
	}

	@Override
	public void close() {
		if (this.held != null) {
			try {
				this.held.close();
			}
			catch (IOException ex) {
				throw new UncheckedIOException("cannot release port " + this.number, ex);
			}
		}
	}

}
