package io.tutti.service.group;

import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.boot.web.server.context.WebServerApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@Timeout(20)
class BoundedWaitsTest {

	private final BoundedWaits waits = new BoundedWaits(Duration.ofMillis(10));

	@Test
	void aCompletedWaitReturnsItsResult() {
		this.waits.start();
		assertThat(this.waits.await(() -> "passed")).isEqualTo("passed");
	}

	@Test
	void aWaitInProgressEndsWhenThisRankLeavesAndItsThreadCanStillWrite() throws Exception {
		this.waits.start();
		CountDownLatch waiting = new CountDownLatch(1);
		CompletableFuture<Boolean> interruptedAfterwards = new CompletableFuture<>();
		Thread.ofVirtual().start(() -> {
			try {
				this.waits.await(() -> never(waiting));
			}
			catch (GroupUnavailableException ex) {
				interruptedAfterwards.complete(Thread.currentThread().isInterrupted());
			}
		});
		waiting.await();
		this.waits.stop();
		assertThat(interruptedAfterwards.get(10, TimeUnit.SECONDS)).isFalse();
	}

	@Test
	void aWaitAfterTheStopIsRejected() {
		this.waits.start();
		this.waits.stop();
		assertThatExceptionOfType(GroupUnavailableException.class).isThrownBy(() -> this.waits.await(() -> "passed"))
			.withMessageContaining("this rank has left the group");
	}

	@Test
	void waitsAreRejectedBeforeTheWebServerWaitsForItsRequests() {
		assertThat(this.waits.getPhase()).isGreaterThan(WebServerApplicationContext.GRACEFUL_SHUTDOWN_PHASE);
	}

	@Test
	void aPausedContextKeepsItsWaits() {
		assertThat(this.waits.isPauseable()).as("stopped waits do not start again").isFalse();
	}

	private static String never(CountDownLatch waiting) {
		try {
			waiting.countDown();
			return new CompletableFuture<String>().get();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new CancellationException("interrupted");
		}
		catch (ExecutionException ex) {
			throw new AssertionError(ex);
		}
	}

}
