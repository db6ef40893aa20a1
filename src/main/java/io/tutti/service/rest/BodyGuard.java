package io.tutti.service.rest;

import java.io.IOException;

import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;

import org.springframework.http.HttpHeaders;
import org.springframework.http.MediaType;
import org.springframework.web.filter.OncePerRequestFilter;

/**
 * Lets no body take for ever. The web server's own limit holds between two bytes: a
 * caller who sends one now and then would keep a thread for days. A collective's elements
 * may come as slowly as its own timeout says, and their controller sees to that.
 */
final class BodyGuard extends OncePerRequestFilter {

	private final BodyLimits limits;

	BodyGuard(BodyLimits limits) {
		this.limits = limits;
	}

	/** Without a body there is nothing to guard, nor anything to wait for. */
	@Override
	protected boolean shouldNotFilter(HttpServletRequest request) {
		return request.getContentLengthLong() == 0
				|| (request.getContentLengthLong() < 0 && request.getHeader(HttpHeaders.TRANSFER_ENCODING) == null);
	}

	@Override
	protected void doFilterInternal(HttpServletRequest request, HttpServletResponse response, FilterChain chain)
			throws ServletException, IOException {
		chain.doFilter(isElements(request) ? request : new TimedBodyRequest(request, this.limits.time()), response);
		if (isStillAwaited(request, response)) {
			end(response);
			swallow(new TimedBodyRequest(request, this.limits.time()));
		}
	}

	/** A caller who has sent all, was too slow, or waits for a word first is not. */
	private static boolean isStillAwaited(HttpServletRequest request, HttpServletResponse response) throws IOException {
		return !request.isAsyncStarted() && !request.getInputStream().isFinished()
				&& response.getStatus() != HttpServletResponse.SC_REQUEST_TIMEOUT
				&& request.getHeader(HttpHeaders.EXPECT) == null;
	}

	private static boolean isElements(HttpServletRequest request) {
		String type = request.getContentType();
		return type != null && type.startsWith(MediaType.APPLICATION_OCTET_STREAM_VALUE);
	}

	/**
	 * The answer is whole before anything more is read, whatever becomes of that. One
	 * that an error page has yet to give stays open.
	 */
	private static void end(HttpServletResponse response) throws IOException {
		try {
			response.getOutputStream().close();
		}
		catch (IllegalStateException ex) {
			response.getWriter().close();
		}
	}

	/** What cannot be read in time or measure is left, and the connection with it. */
	private void swallow(HttpServletRequest unread) {
		byte[] chunk = new byte[8 << 10];
		try {
			long swallowed = 0;
			for (int read = 0; read >= 0 && swallowed < this.limits.unreadBytes(); swallowed += read) {
				read = unread.getInputStream().read(chunk, 0, chunk.length);
			}
		}
		catch (IOException | IllegalStateException ex) {
			this.logger.debug("the rest of a body was left", ex);
		}
	}

}
