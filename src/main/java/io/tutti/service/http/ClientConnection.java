package io.tutti.service.http;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.function.BooleanSupplier;

import jakarta.servlet.ServletConnection;
import jakarta.servlet.ServletRequest;
import org.apache.tomcat.util.net.SocketWrapperBase;
import org.jspecify.annotations.Nullable;

/**
 * The connection of a request, which detects that the client has closed it. The Servlet
 * API has no event for that, so the check is a non-blocking read of the socket; a byte
 * that was read belongs to the client's next request and is pushed back. The check is
 * made only by the request's thread, after the body has been read.
 */
public final class ClientConnection implements ServletConnection, Closeable {

	/** The request attribute that holds it. */
	static final String ATTRIBUTE = ClientConnection.class.getName();

	private final SocketWrapperBase<?> socket;

	private final ServletConnection connection;

	private final ByteBuffer probe = ByteBuffer.allocate(1);

	ClientConnection(SocketWrapperBase<?> socket, ServletConnection connection) {
		this.socket = socket;
		this.connection = connection;
	}

	/**
	 * The connection of a request, {@code null} over HTTP/2 or with another web server.
	 */
	public static @Nullable ClientConnection of(ServletRequest request) {
		return (request.getAttribute(ATTRIBUTE) instanceof ClientConnection connection) ? connection : null;
	}

	/**
	 * Checks whether the client of a request is still connected; {@code null} if that
	 * cannot be checked.
	 */
	public static @Nullable BooleanSupplier probe(ServletRequest request) {
		ClientConnection connection = of(request);
		return (connection != null) ? connection::isOpen : null;
	}

	/**
	 * Whether the client has closed neither the connection nor its sending side, as far
	 * as this host knows. A close behind a pipelined request is not detected.
	 */
	public boolean isOpen() {
		try {
			int read = this.socket.read(false, this.probe.clear());
			if (read > 0) {
				this.socket.unRead(this.probe.flip());
			}
			return read >= 0;
		}
		catch (IOException ex) {
			return false;
		}
	}

	/** Makes reads and writes of the request fail. May be called by another thread. */
	@Override
	public void close() {
		this.socket.close();
	}

	@Override
	public String getConnectionId() {
		return this.connection.getConnectionId();
	}

	@Override
	public String getProtocol() {
		return this.connection.getProtocol();
	}

	@Override
	public String getProtocolConnectionId() {
		return this.connection.getProtocolConnectionId();
	}

	@Override
	public boolean isSecure() {
		return this.connection.isSecure();
	}

}
