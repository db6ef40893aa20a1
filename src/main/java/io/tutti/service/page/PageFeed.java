package io.tutti.service.page;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

import io.tutti.service.group.GroupLifecycle;
import io.tutti.service.http.RequestLimit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import tools.jackson.databind.json.JsonMapper;

import org.springframework.context.SmartLifecycle;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.web.ErrorResponseException;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

/**
 * Sends the history and then the state of the job to the viewers of the page, once a
 * second and immediately when the group breaks. Queries no rank while there are no
 * viewers. Each viewer has its own thread, so a slow viewer does not delay the others.
 * Stops before the web server waits for open requests. What is sent does not depend on
 * the application's own writing of JSON, since the script of the page reads it.
 */
final class PageFeed implements SmartLifecycle {

	private static final Logger log = LoggerFactory.getLogger(PageFeed.class);

	private static final int MOST_VIEWERS = 32;

	private static final long PERIOD_MILLIS = 1000;

	private final PageStates states;

	private final PageHistory history;

	private final ReentrantLock lock = new ReentrantLock();

	private final Condition changed = this.lock.newCondition();

	private int viewers;

	private boolean ticking;

	private boolean running;

	private boolean urgent;

	private State latest = new State(0, "");

	/** A state of the job, and how many were published up to it. */
	private record State(long number, String json) {
	}

	PageFeed(PageStates states, PageHistory history, GroupLifecycle group) {
		this.states = states;
		this.history = history;
		group.onBroken((_) -> hurry());
		group.onFormed((_) -> hurry());
	}

	/**
	 * Adds a viewer.
	 * @throws ErrorResponseException if there are too many viewers, or the feed has
	 * stopped
	 */
	SseEmitter view() {
		SseEmitter emitter = new SseEmitter(0L);
		this.lock.lock();
		try {
			if (!this.running) {
				throw unavailable("this rank is starting or stopping");
			}
			if (this.viewers >= MOST_VIEWERS) {
				throw unavailable("at most " + MOST_VIEWERS + " may be open at once");
			}
			this.viewers++;
			long seen = this.latest.number();
			Thread.ofVirtual().name("tutti-page-viewer").start(() -> send(emitter, seen));
			if (!this.ticking) {
				this.ticking = true;
				Thread.ofVirtual().name("tutti-page").start(this::tick);
			}
		}
		finally {
			this.lock.unlock();
		}
		return emitter;
	}

	private static ErrorResponseException unavailable(String reason) {
		HttpStatus status = HttpStatus.SERVICE_UNAVAILABLE;
		ErrorResponseException refused = new ErrorResponseException(status,
				ProblemDetail.forStatusAndDetail(status, reason), null);
		refused.getHeaders().set(HttpHeaders.RETRY_AFTER, RequestLimit.RETRY_AFTER_SECONDS);
		return refused;
	}

	private void send(SseEmitter emitter, long seen) {
		try {
			emitter.send(SseEmitter.event().name("history").data(json(this.history.samples())));
			for (State next = awaitNewer(seen); next != null; next = awaitNewer(next.number())) {
				emitter.send(SseEmitter.event().name("state").data(next.json()));
			}
			emitter.complete();
		}
		catch (IOException | IllegalStateException ex) {
			// The viewer has disconnected.
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		finally {
			locked(() -> this.viewers--);
		}
	}

	private static String json(Object value) {
		return JsonMapper.shared().writeValueAsString(value);
	}

	/** The state after the one with this number, {@code null} if the feed has stopped. */
	private @Nullable State awaitNewer(long seen) throws InterruptedException {
		this.lock.lockInterruptibly();
		try {
			while (this.running && this.latest.number() == seen) {
				this.changed.await();
			}
			return this.running ? this.latest : null;
		}
		finally {
			this.lock.unlock();
		}
	}

	private void tick() {
		try {
			do {
				publish();
			}
			while (pause());
		}
		catch (InterruptedException ex) {
			locked(() -> this.ticking = false);
			Thread.currentThread().interrupt();
		}
	}

	/** After a failure, viewers get the next update a second later. */
	private void publish() {
		try {
			String state = json(this.states.take());
			locked(() -> this.latest = new State(this.latest.number() + 1, state));
		}
		catch (RuntimeException | Error ex) {
			log.warn("the page could not be updated", ex);
		}
	}

	/**
	 * Waits for the next update; returns whether there are still viewers. If not, the
	 * next viewer starts another thread.
	 */
	private boolean pause() throws InterruptedException {
		this.lock.lockInterruptibly();
		try {
			long left = TimeUnit.MILLISECONDS.toNanos(PERIOD_MILLIS);
			while (this.running && !this.urgent && left > 0) {
				left = this.changed.awaitNanos(left);
			}
			this.urgent = false;
			if (!this.running || this.viewers == 0) {
				this.ticking = false;
				return false;
			}
			return true;
		}
		finally {
			this.lock.unlock();
		}
	}

	private void hurry() {
		locked(() -> this.urgent = true);
	}

	private void locked(Runnable change) {
		this.lock.lock();
		try {
			change.run();
			this.changed.signalAll();
		}
		finally {
			this.lock.unlock();
		}
	}

	@Override
	public void start() {
		locked(() -> this.running = true);
	}

	@Override
	public void stop() {
		locked(() -> this.running = false);
	}

	@Override
	public boolean isRunning() {
		this.lock.lock();
		try {
			return this.running;
		}
		finally {
			this.lock.unlock();
		}
	}

}
