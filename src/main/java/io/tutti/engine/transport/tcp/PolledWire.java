package io.tutti.engine.transport.tcp;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;

import io.tutti.engine.transport.Wire;

/**
 * A TCP connection as a wire that knows what a sleeping thread would wait for on it.
 */
final class PolledWire implements Wire {

	private final SocketWire wire;

	private final SocketChannel channel;

	private final SelectionKey key;

	private boolean blockedWriting;

	private boolean ended;

	PolledWire(SocketChannel channel, SelectionKey key) {
		this.wire = new SocketWire(channel);
		this.channel = channel;
		this.key = key;
	}

	@Override
	public long write(long address, long bytes) throws IOException {
		long written = this.wire.write(address, bytes);
		this.blockedWriting = written == 0 && bytes > 0;
		return written;
	}

	@Override
	public long read(long address, long bytes) throws IOException {
		try {
			return this.wire.read(address, bytes);
		}
		catch (IOException ex) {
			this.ended = true;
			throw ex;
		}
	}

	void declareInterest() {
		if (this.key.isValid()) {
			this.key
				.interestOps(this.ended ? 0 : SelectionKey.OP_READ | (this.blockedWriting ? SelectionKey.OP_WRITE : 0));
		}
	}

	/**
	 * Ends the stream before the connection, so that what was sent arrives even if the
	 * peer's last words were not read.
	 */
	void close() {
		try {
			this.channel.shutdownOutput();
		}
		catch (IOException ex) {
			// It has ended by itself.
		}
		try {
			this.channel.close();
		}
		catch (IOException ex) {
			// The kernel closes it with the process.
		}
	}

}
