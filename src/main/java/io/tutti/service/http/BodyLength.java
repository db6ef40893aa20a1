package io.tutti.service.http;

import java.io.IOException;

import jakarta.servlet.http.HttpServletRequest;

/**
 * The length of a request's body before it is read.
 */
public final class BodyLength {

	private static final String HTTP_2 = "HTTP/2.0";

	private BodyLength() {
	}

	/**
	 * The length in bytes, 0 without a body, -1 if it is unknown. HTTP/1.1 announces a
	 * body of unknown length with {@code Transfer-Encoding}; HTTP/2 does not announce it.
	 */
	public static long of(HttpServletRequest request) throws IOException {
		long bytes = request.getContentLengthLong();
		if (bytes >= 0) {
			return bytes;
		}
		boolean hasBody = isHttp2(request) ? !request.getInputStream().isFinished()
				: request.getHeader("Transfer-Encoding") != null;
		return hasBody ? -1 : 0;
	}

	/** Whether a request is one of several streams of a connection. */
	public static boolean isHttp2(HttpServletRequest request) {
		return HTTP_2.equals(request.getProtocol());
	}

}
