package io.tutti.service.http;

import java.io.IOException;
import java.util.concurrent.TimeUnit;

import jakarta.servlet.ServletConnection;
import org.apache.coyote.Adapter;
import org.apache.coyote.http11.AbstractHttp11Protocol;
import org.apache.coyote.http11.Http11Processor;
import org.apache.tomcat.util.net.AbstractEndpoint.Handler.SocketState;
import org.apache.tomcat.util.net.SocketWrapperBase;

/**
 * Reads requests and closes a connection whose request header is not complete in time.
 * Tomcat's own timeout restarts with every byte.
 */
final class LimitedProcessor extends Http11Processor {

	private final AbstractHttp11Protocol<?> protocol;

	LimitedProcessor(AbstractHttp11Protocol<?> protocol, Adapter adapter) {
		super(protocol, adapter);
		this.protocol = protocol;
	}

	/** Tomcat closes the connection itself if no byte arrives in the remaining time. */
	@Override
	public SocketState service(SocketWrapperBase<?> socket) throws IOException {
		SocketState state = super.service(socket);
		int limitMillis = this.protocol.getConnectionTimeout();
		if (state != SocketState.LONG || isAsync() || limitMillis <= 0) {
			return state;
		}
		long leftMillis = limitMillis - headerMillis();
		if (leftMillis <= 0) {
			return SocketState.CLOSED;
		}
		socket.setReadTimeout(leftMillis);
		return state;
	}

	/** Milliseconds since the first byte of an incomplete header. */
	long headerMillis() {
		long startNanos = this.request.getStartTimeNanos();
		return (startNanos < 0) ? 0 : TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos);
	}

	@Override
	protected ServletConnection getServletConnection() {
		return new ClientConnection(getSocketWrapper(), super.getServletConnection());
	}

}
