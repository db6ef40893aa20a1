package io.tutti.service.rest;

import java.io.Closeable;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

import org.springframework.web.servlet.HandlerInterceptor;

/**
 * Limits how many requests read the flight recorders at once; further requests queue. A
 * request keeps its permit until its response is written. The traces of all ranks are
 * large and travel over the control plane: unlimited readers, which need no token, would
 * delay heartbeats and so end the job. A client that reads its response too slowly is
 * disconnected, so that it does not shut out others.
 */
final class RecorderGate implements HandlerInterceptor {

	/** The request attribute that holds the deadline of the response. */
	private static final String DEADLINE = RecorderGate.class.getName();

	private final int mostAtOnce;

	private final Duration waitLimit;

	private final Duration answerLimit;

	private final Function<HttpServletRequest, @Nullable Closeable> connections;

	private final Semaphore turns;

	/**
	 * Creates a gate with all permits free.
	 * @param mostAtOnce most requests that read at the same time
	 * @param waitLimit how long a further request waits before it is refused
	 * @param answerLimit how long a request may take, with the time to write its response
	 * @param connections the connection of a request, {@code null} if it has none
	 */
	RecorderGate(int mostAtOnce, Duration waitLimit, Duration answerLimit,
			Function<HttpServletRequest, @Nullable Closeable> connections) {
		this.mostAtOnce = mostAtOnce;
		this.waitLimit = waitLimit;
		this.answerLimit = answerLimit;
		this.connections = connections;
		this.turns = new Semaphore(mostAtOnce, true);
	}

	@Override
	public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler)
			throws InterruptedException {
		Closeable connection = this.connections.apply(request);
		if (!this.turns.tryAcquire(this.waitLimit.toNanos(), TimeUnit.NANOSECONDS)) {
			throw ProblemException
				.overloaded("at most " + this.mostAtOnce + " may read the flight recorder at once; try again");
		}
		request.setAttribute(DEADLINE, new ResponseDeadline(connection, this.answerLimit));
		return true;
	}

	@Override
	public void afterCompletion(HttpServletRequest request, HttpServletResponse response, Object handler,
			@Nullable Exception failure) {
		if (request.getAttribute(DEADLINE) instanceof ResponseDeadline deadline) {
			deadline.close();
		}
		this.turns.release();
	}

}
