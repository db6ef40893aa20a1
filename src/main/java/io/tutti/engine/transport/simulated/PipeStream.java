package io.tutti.engine.transport.simulated;

import java.io.IOException;

import io.tutti.engine.transport.ByteStream;

/**
 * A byte stream over two pipes, one per direction.
 */
record PipeStream(Pipe out, Pipe in, Runnable wakePeer) implements ByteStream {

	@Override
	public long write(long address, long bytes) throws IOException {
		long written = this.out.write(address, bytes);
		if (written > 0) {
			this.wakePeer.run();
		}
		return written;
	}

	@Override
	public long read(long address, long bytes) throws IOException {
		long read = this.in.read(address, bytes);
		if (read > 0) {
			this.wakePeer.run();
		}
		return read;
	}

}
