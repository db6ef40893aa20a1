package io.tutti.service.rest;

import java.io.IOException;

import io.tutti.service.http.BodyLength;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Limits the total time of reading a body. The web server's own timeout applies between
 * two bytes, so a slow client could hold a thread for days. The elements of a collective
 * are limited by the call's own timeout, which their controller enforces.
 */
final class BodyGuard extends OncePerRequestFilter {

	private final BodyLimits limits;

	BodyGuard(BodyLimits limits) {
		this.limits = limits;
	}

	@Override
	protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws ServletException, IOException {
		if (BodyLength.of(request) == 0) {
			chain.doFilter(request, response);
			return;
		}
		chain.doFilter(isElements(request) ? request : new TimedBodyRequest(request, this.limits.time()), response);
		if (isStillAwaited(request, response)) {
			end(response);
			swallow(new TimedBodyRequest(request, this.limits.time()));
		}
	}

	/**
	 * False if the request is asynchronous, its body is complete or timed out, or its
	 * client waits for {@code 100 Continue}.
	 */
	private static boolean isStillAwaited(HttpServletRequest request, HttpServletResponse response) throws IOException {
		return !request.isAsyncStarted() && !request.getInputStream().isFinished()
				&& response.getStatus() != HttpServletResponse.SC_REQUEST_TIMEOUT
				&& request.getHeader(HttpHeaders.EXPECT) == null;
	}

	/** Spring takes a missing type for a stream of bytes. */
	private static boolean isElements(HttpServletRequest request) {
		String type = request.getContentType();
		String bytes = MediaType.APPLICATION_OCTET_STREAM_VALUE;
		return type == null || type.regionMatches(true, 0, bytes, 0, bytes.length());
	}

	/**
	 * Completes the response before the rest of the body is read. A response that an
	 * error page has yet to write stays open.
	 */
	private static void end(HttpServletResponse response) throws IOException {
		try {
			response.getOutputStream().close();
		}
		catch (IllegalStateException ex) {
			response.getWriter().close();
		}
	}

	/**
	 * Discards the rest of the body. Beyond the limits of time and size, the rest stays
	 * unread and the connection is closed.
	 */
	private void swallow(HttpServletRequest unread) {
		byte[] chunk = new byte[8 << 10];
		try {
			long swallowed = 0;
			for (int read = 0; read >= 0 && swallowed < this.limits.unreadBytes(); swallowed += read) {
				read = unread.getInputStream().read(chunk, 0, chunk.length);
			}
		}
		catch (IOException | IllegalStateException ex) {
			this.logger.debug("the rest of a body was not read", ex);
		}
	}

}
