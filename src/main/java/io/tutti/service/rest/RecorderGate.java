package io.tutti.service.rest;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;

import org.springframework.http.HttpStatus;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.HandlerInterceptor;

/**
 * Limits how many requests read the flight recorders at once; further requests queue. A
 * request keeps its permit until its response is written. The traces of all ranks are
 * large and travel over the control plane: unlimited readers, which need no token, would
 * delay heartbeats and so end the job.
 */
final class RecorderGate implements HandlerInterceptor {

	private final int mostAtOnce;

	private final Duration waitLimit;

	private final Semaphore turns;

	/**
	 * Creates a gate with all permits free.
	 * @param mostAtOnce most requests that read at the same time
	 * @param waitLimit how long a further request waits before it is refused
	 */
	RecorderGate(int mostAtOnce, Duration waitLimit) {
		this.mostAtOnce = mostAtOnce;
		this.waitLimit = waitLimit;
		this.turns = new Semaphore(mostAtOnce, true);
	}

	@Override
	public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler)
			throws InterruptedException {
		if (!this.turns.tryAcquire(this.waitLimit.toNanos(), TimeUnit.NANOSECONDS)) {
			throw new ResponseStatusException(HttpStatus.SERVICE_UNAVAILABLE,
					"at most " + this.mostAtOnce + " may read the flight recorder at once; try again");
		}
		return true;
	}

	@Override
	public void afterCompletion(HttpServletRequest request, HttpServletResponse response, Object handler,
			@Nullable Exception failure) {
		this.turns.release();
	}

}
