package io.tutti.engine.transport.tcp;

import java.io.EOFException;
import java.io.IOException;
import java.nio.channels.SocketChannel;

import io.tutti.engine.transport.ByteStream;

/**
 * A TCP connection as a wire.
 */
final class SocketStream implements ByteStream {

	/** Most bytes of one system call: more only delays the other direction. */
	private static final long CALL_BYTES = 512 * 1024;

	private final SocketChannel channel;

	private final AddressWindows windows = new AddressWindows();

	SocketStream(SocketChannel channel) {
		this.channel = channel;
	}

	@Override
	public long write(long address, long bytes) throws IOException {
		return this.channel.write(this.windows.at(address, Math.min(bytes, CALL_BYTES)));
	}

	@Override
	public long read(long address, long bytes) throws IOException {
		if (bytes == 0) {
			return 0;
		}
		int got = this.channel.read(this.windows.at(address, Math.min(bytes, CALL_BYTES)));
		if (got < 0) {
			throw new EOFException("closed by the peer");
		}
		return got;
	}

}
