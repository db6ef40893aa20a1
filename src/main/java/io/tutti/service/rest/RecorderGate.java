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
 * Lets a few requests at a time read the flight recorders, until their answers are
 * written; the others wait for their turn. Accounts of all ranks are large and come over
 * the control plane: a crowd of readers, who need no token, would take from it the time
 * that heartbeats need, and so end the job.
 */
final class RecorderGate implements HandlerInterceptor {

	private final int mostAtOnce;

	private final Duration patience;

	private final Semaphore turns;

	/**
	 * A gate that nobody has passed yet.
	 * @param mostAtOnce how many may read at the same time
	 * @param patience how long one more waits before it is turned away
	 */
	RecorderGate(int mostAtOnce, Duration patience) {
		this.mostAtOnce = mostAtOnce;
		this.patience = patience;
		this.turns = new Semaphore(mostAtOnce, true);
	}

	@Override
	public boolean preHandle(HttpServletRequest request, HttpServletResponse response, Object handler)
			throws InterruptedException {
		if (!this.turns.tryAcquire(this.patience.toNanos(), TimeUnit.NANOSECONDS)) {
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
