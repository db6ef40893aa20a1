package io.tutti.engine.bootstrap;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;

/** A blocking channel over two streams. */
record StreamChannel(InputStream in, OutputStream out) implements ByteChannel {

	static StreamChannel over(Socket socket) throws IOException {
		return new StreamChannel(socket.getInputStream(), socket.getOutputStream());
	}

	@Override
	public int read(ByteBuffer target) throws IOException {
		int bytes = this.in.read(target.array(), target.position(), target.remaining());
		target.position(target.position() + Math.max(0, bytes));
		return bytes;
	}

	@Override
	public int write(ByteBuffer source) throws IOException {
		byte[] bytes = new byte[source.remaining()];
		source.get(bytes);
		this.out.write(bytes);
		return bytes.length;
	}

	@Override
	public boolean isOpen() {
		return true;
	}

	@Override
	public void close() throws IOException {
		this.in.close();
		this.out.close();
	}

}
