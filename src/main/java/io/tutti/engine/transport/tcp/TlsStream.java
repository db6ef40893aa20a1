package io.tutti.engine.transport.tcp;

import java.io.EOFException;
import java.io.IOException;

import io.tutti.engine.tls.TlsChannel;
import io.tutti.engine.transport.ByteStream;

/**
 * A connection in cipher as a wire. Unlike a plain one it copies every byte into records
 * and allocates a little for each; whoever writes must, as every link does, offer again
 * what was not taken.
 */
final class TlsStream implements ByteStream {

	/** Most bytes of one call: more only delays the other direction. */
	private static final long CALL_BYTES = 512 * 1024;

	private final TlsChannel channel;

	private final AddressWindows windows = new AddressWindows();

	TlsStream(TlsChannel channel) {
		this.channel = channel;
		channel.expectMuch();
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
