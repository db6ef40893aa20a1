package io.tutti.engine.transport.tcp;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;

import io.tutti.engine.tls.TlsChannel;
import io.tutti.engine.transport.ByteStream;
import org.jspecify.annotations.Nullable;

/**
 * A data connection: a socket, and TLS over it where the job speaks TLS.
 *
 * @param channel the socket, for its options and for selectors
 * @param tls what goes over it in cipher, {@code null} if bytes go as they are
 */
record DataConnection(SocketChannel channel, @Nullable TlsChannel tls) {

	/** How bytes cross it once it does not block. */
	ByteStream wire() {
		return (this.tls != null) ? new TlsStream(this.tls) : new SocketStream(this.channel);
	}

	/** What comes while it still blocks; follows the socket's timeout. */
	InputStream input() throws IOException {
		return (this.tls != null) ? Channels.newInputStream(this.tls) : this.channel.socket().getInputStream();
	}

	/** What goes while it still blocks. */
	OutputStream output() throws IOException {
		return (this.tls != null) ? Channels.newOutputStream(this.tls) : this.channel.socket().getOutputStream();
	}

	/** Ends the stream before the connection, so that what was sent arrives. */
	void finish() {
		try {
			if (this.tls != null) {
				this.tls.shutdownOutput();
			}
			else {
				this.channel.shutdownOutput();
			}
		}
		catch (IOException ex) {
			// It has ended by itself.
		}
	}

	void close() {
		try {
			this.channel.close();
		}
		catch (IOException ex) {
			// The kernel closes it with the process.
		}
	}

}
