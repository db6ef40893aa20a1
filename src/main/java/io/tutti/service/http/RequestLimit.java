package io.tutti.service.http;

import java.io.IOException;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

import jakarta.servlet.AsyncEvent;
import jakarta.servlet.AsyncListener;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServletResponse;
import org.apache.catalina.connector.Request;
import org.apache.catalina.connector.Response;
import org.apache.catalina.valves.ValveBase;

/**
 * Answers 503 to requests beyond a limit, so that requests that wait for other ranks
 * leave connections free. Probes are always served: they do not block.
 */
public final class RequestLimit extends ValveBase {

	/** How long a client waits before it repeats a request that was refused for load. */
	public static final String RETRY_AFTER_SECONDS = "5";

	private static final Set<String> READING = Set.of("GET", "HEAD");

	private final int limit;

	/** Path of the health endpoint, which contains the probes, below its servlet. */
	private final String probes;

	private final AtomicInteger serving = new AtomicInteger();

	RequestLimit(int limit, String probes) {
		super(true);
		this.limit = limit;
		this.probes = probes;
	}

	@Override
	public void invoke(Request request, Response response) throws IOException, ServletException {
		boolean oversubscribed = this.serving.incrementAndGet() > this.limit;
		try {
			if (oversubscribed && !request.isAsyncDispatching() && !isProbe(request)) {
				response.setHeader("Retry-After", RETRY_AFTER_SECONDS);
				response.setHeader("Connection", "close");
				response.sendError(HttpServletResponse.SC_SERVICE_UNAVAILABLE);
				return;
			}
			getNext().invoke(request, response);
		}
		finally {
			leave(request);
		}
	}

	private void leave(Request request) {
		if (request.isAsyncStarted()) {
			request.getAsyncContext().addListener(new Leaving());
			return;
		}
		this.serving.decrementAndGet();
	}

	/** A request with a body is no probe: reading the body could block. */
	private boolean isProbe(Request request) throws IOException {
		String path = String
			.valueOf((request.getPathInfo() != null) ? request.getPathInfo() : request.getServletPath());
		return READING.contains(request.getMethod()) && BodyLength.of(request) == 0
				&& (path.equals(this.probes) || path.startsWith(this.probes + "/"));
	}

	private final class Leaving implements AsyncListener {

		@Override
		public void onComplete(AsyncEvent event) {
			RequestLimit.this.serving.decrementAndGet();
		}

		@Override
		public void onTimeout(AsyncEvent event) {
		}

		@Override
		public void onError(AsyncEvent event) {
		}

		@Override
		public void onStartAsync(AsyncEvent event) {
			event.getAsyncContext().addListener(this);
		}

	}

}
