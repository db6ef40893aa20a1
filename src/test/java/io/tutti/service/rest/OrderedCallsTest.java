package io.tutti.service.rest;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(20)
class OrderedCallsTest {

	private static final IllegalStateException ENDED = new IllegalStateException("ended");

	private final OrderedCalls calls = new OrderedCalls("ordered-calls");

	@AfterEach
	void close() {
		this.calls.close(ENDED);
	}

	@Test
	void callsRunInOrderOfTheirNumbersAndAFailureDelaysNoOtherCall() throws Exception {
		List<Integer> made = new ArrayList<>();
		CompletableFuture<Boolean> last = this.calls.submit(2, () -> made.add(2));
		CompletableFuture<Boolean> failing = this.calls.submit(1, () -> {
			throw new IllegalStateException("made to fail");
		});
		assertThat(last).isNotDone();
		this.calls.submit(0, () -> made.add(0)).get(10, TimeUnit.SECONDS);
		last.get(10, TimeUnit.SECONDS);
		assertThat(failing).isCompletedExceptionally();
		assertThat(made).containsExactly(0, 2);
	}

	@Test
	void anErrorOfTheJvmFailsItsCallAlone() throws Exception {
		CompletableFuture<String> failing = this.calls.submit(0, () -> {
			throw new StackOverflowError("made to fail");
		});
		CompletableFuture<String> next = this.calls.submit(1, () -> "done");
		assertThat(failing).failsWithin(10, TimeUnit.SECONDS)
			.withThrowableThat()
			.withCauseInstanceOf(StackOverflowError.class);
		assertThat(next.get(10, TimeUnit.SECONDS)).isEqualTo("done");
	}

	@Test
	void theEndFailsTheCallsThatHaveNotBegunAndLetsTheRunningOneEnd() throws Exception {
		CountDownLatch begun = new CountDownLatch(1);
		CountDownLatch released = new CountDownLatch(1);
		CompletableFuture<String> running = this.calls.submit(0, () -> {
			begun.countDown();
			released.await();
			return "done";
		});
		CompletableFuture<String> queued = this.calls.submit(1, () -> "never");
		CompletableFuture<String> early = this.calls.submit(7, () -> "never");
		begun.await();
		this.calls.end(ENDED);
		CompletableFuture<String> late = this.calls.submit(2, () -> "never");
		for (CompletableFuture<String> failed : List.of(queued, early, late)) {
			assertThat(failed).failsWithin(10, TimeUnit.SECONDS).withThrowableThat().withCause(ENDED);
		}
		assertThat(running).isNotDone();
		released.countDown();
		assertThat(running.get(10, TimeUnit.SECONDS)).isEqualTo("done");
	}

}
