package io.tutti.engine.transport.tcp;

import java.io.IOException;
import java.nio.channels.SelectionKey;

import io.tutti.engine.transport.ByteStream;

/**
 * A TCP connection as a wire that knows what a sleeping thread would wait for on it.
 */
final class PolledStream implements ByteStream {

	private final ByteStream wire;

	private final DataConnection connection;

	private final SelectionKey key;

	private boolean blockedWriting;

	private boolean ended;

	private boolean halted;

	PolledStream(DataConnection connection, SelectionKey key) {
		this.wire = connection.wire();
		this.connection = connection;
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

	@Override
	public void halt(boolean halted) {
		this.halted = halted;
	}

	void declareInterest() {
		if (this.key.isValid()) {
			int reading = this.halted ? 0 : SelectionKey.OP_READ;
			this.key.interestOps(this.ended ? 0 : reading | (this.blockedWriting ? SelectionKey.OP_WRITE : 0));
		}
	}

	/**
	 * Ends the stream before the connection, so that what was sent arrives even if the
	 * peer's last words were not read.
	 */
	void close() {
		this.connection.finish();
		this.connection.close();
	}

}
