package io.tutti.service.rest;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;

import io.tutti.engine.control.RoundWait;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.http.HttpStatus;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(30)
class NamedRoundsTest {

	private static final Duration MINUTE = Duration.ofMinutes(1);

	private static final byte[] SEVEN = { 7 };

	private final NamedRounds<Counted> rounds = new NamedRounds<>();

	private final AtomicInteger carriedOut = new AtomicInteger();

	/** Counts its references. */
	private static final class Counted implements NamedRounds.Held {

		private final AtomicInteger holders = new AtomicInteger(1);

		@Override
		public void hold() {
			this.holders.incrementAndGet();
		}

		@Override
		public void release() {
			this.holders.decrementAndGet();
		}

	}

	@Test
	void aRepeatedRoundGetsTheSameAnswerAndRunsOnce() {
		Counted first = run("a", 3, 7);
		Counted again = run("a", 3, 7);
		assertThat(again).isSameAs(first);
		assertThat(this.carriedOut).hasValue(1);
		first.release();
		again.release();
		assertThat(first.holders).as("holders, the round itself among them").hasValue(1);
	}

	@Test
	void anOlderRoundIsAConflictAndItsAnswerIsFreed() {
		Counted first = run("a", 3, 7);
		first.release();
		run("a", 5, 7).release();
		assertThat(first.holders).hasValue(0);
		for (long older : new long[] { 0, 3, 4 }) {
			assertThatThrownBy(() -> run("a", older, 7)).isInstanceOf(ProblemException.class)
				.hasMessageContaining("round " + older + " of label a is over")
				.hasMessageContaining("round 5");
		}
		assertThat(this.carriedOut).hasValue(2);
		run("b", 0, 7);
		assertThat(this.carriedOut).hasValue(3);
	}

	@Test
	void theSameRoundWithAnotherDigestIsAConflict() {
		run("a", 3, 7);
		assertThatThrownBy(() -> run("a", 3, 8)).isInstanceOf(ProblemException.class)
			.hasMessageContaining("other parameters or another body");
		assertThat(this.carriedOut).hasValue(1);
	}

	@Test
	void anEvictedAnswerIsFreedAndItsRoundIsAConflict() {
		Counted answer = run("a", 3, 7);
		assertThat(this.rounds.evict()).isTrue();
		assertThat(answer.holders).as("the request that still writes it").hasValue(1);
		assertThat(this.rounds.evict()).isFalse();
		assertThatThrownBy(() -> run("a", 3, 7)).isInstanceOf(ProblemException.class)
			.hasMessageContaining("was evicted");
	}

	@Test
	void anAnswerThatARequestWaitsForIsNotEvicted() {
		RoundWait wait = new RoundWait("a", 3, MINUTE, () -> true);
		this.rounds.begin(wait);
		this.rounds.begin(wait);
		run("a", 3, 7);
		this.rounds.end(wait);
		assertThat(this.rounds.evict()).isFalse();
		this.rounds.end(wait);
		assertThat(this.rounds.evict()).isTrue();
	}

	@Test
	void aFailedRoundMayBeRetried() {
		assertThatThrownBy(() -> run("a", 3, () -> true, (wait) -> {
			throw new IllegalStateException("made to fail");
		})).hasMessage("made to fail");
		assertThat(run("a", 3, 7)).isNotNull();
		assertThat(this.carriedOut).hasValue(1);
	}

	@Test
	void aRequestThatRepeatsARoundUnderWayGetsItsAnswerAndKeepsItAlive() throws Exception {
		AtomicBoolean firstClient = new AtomicBoolean(true);
		CompletableFuture<BooleanSupplier> anyClient = new CompletableFuture<>();
		CountDownLatch go = new CountDownLatch(1);
		CompletableFuture<Counted> first = onThread(() -> run("a", 3, firstClient::get, (wait) -> {
			anyClient.complete(wait.client());
			awaitLatch(go);
			return new Counted();
		}));
		BooleanSupplier client = anyClient.get(10, TimeUnit.SECONDS);
		assertThat(client.getAsBoolean()).isTrue();
		CompletableFuture<Counted> repeat = onThread(() -> run("a", 3, 7));
		assertThatThrownBy(() -> run("a", 3, 8)).isInstanceOf(ProblemException.class);
		firstClient.set(false);
		Awaitility.await().untilAsserted(() -> assertThat(client.getAsBoolean()).as("the repeat counts").isTrue());
		go.countDown();
		assertThat(repeat.get(10, TimeUnit.SECONDS)).isSameAs(first.get(10, TimeUnit.SECONDS));
		assertThat(first.get().holders).as("two requests and the round").hasValue(3);
		assertThat(this.carriedOut).hasValue(0);
	}

	@Test
	void aRequestThatRepeatsARoundUnderWayWaitsNoLongerThanItsOwnTimeout() throws Exception {
		CountDownLatch begun = new CountDownLatch(1);
		CountDownLatch go = new CountDownLatch(1);
		CompletableFuture<Counted> first = onThread(() -> run("a", 3, () -> true, (wait) -> {
			begun.countDown();
			awaitLatch(go);
			return new Counted();
		}));
		awaitLatch(begun);
		assertThatThrownBy(() -> this.rounds.run(new RoundWait("a", 3, Duration.ofMillis(20), () -> true), () -> SEVEN,
				(wait) -> new Counted()))
			.isInstanceOfSatisfying(ProblemException.class,
					(problem) -> assertThat(problem.getStatusCode()).isEqualTo(HttpStatus.GATEWAY_TIMEOUT))
			.hasMessageContaining("round 3 of label a");
		assertThat(first).isNotDone();
		go.countDown();
		assertThat(first.get(10, TimeUnit.SECONDS).holders).as("the first request and the round").hasValue(2);
	}

	@Test
	void aRequestThatRepeatsAWithdrawnRoundRunsIt() throws Exception {
		CountDownLatch begun = new CountDownLatch(1);
		CountDownLatch withdraw = new CountDownLatch(1);
		CompletableFuture<Counted> first = onThread(() -> run("a", 3, () -> false, (wait) -> {
			begun.countDown();
			awaitLatch(withdraw);
			throw new CallWithdrawnException("a");
		}));
		awaitLatch(begun);
		CountDownLatch waits = new CountDownLatch(1);
		AtomicReference<Duration> left = new AtomicReference<>();
		CompletableFuture<Counted> repeat = onThread(() -> run("a", 3, () -> {
			waits.countDown();
			return true;
		}, (wait) -> {
			left.set(wait.timeout());
			return new Counted();
		}));
		awaitLatch(waits);
		withdraw.countDown();
		assertThat(repeat.get(10, TimeUnit.SECONDS)).isNotNull();
		assertThat(left.get()).as("what remains after the first look for the client")
			.isLessThan(MINUTE.minusMillis(400));
		assertThat(first).failsWithin(Duration.ofSeconds(10))
			.withThrowableThat()
			.withCauseInstanceOf(CallWithdrawnException.class);
	}

	@Test
	void labelsBeyondTheLimitAreEvictedWithTheirAnswers() {
		Counted first = run("first", 3, 7);
		first.release();
		for (int label = 0; label < NamedRounds.MAX_LABELS; label++) {
			run("label " + label, 0, 7);
		}
		assertThat(first.holders).hasValue(0);
	}

	@Test
	void aRoundThatEndsAfterTheCloseKeepsNoAnswer() {
		Counted before = run("a", 0, 7);
		Counted answer = run("a", 1, () -> true, (wait) -> {
			this.rounds.close();
			return new Counted();
		});
		before.release();
		answer.release();
		assertThat(before.holders).hasValue(0);
		assertThat(answer.holders).hasValue(0);
	}

	private Counted run(String label, long number, int digest) {
		return this.rounds.run(new RoundWait(label, number, MINUTE, () -> true), () -> new byte[] { (byte) digest },
				(wait) -> {
					this.carriedOut.incrementAndGet();
					return new Counted();
				});
	}

	private Counted run(String label, long number, BooleanSupplier client, Function<RoundWait, Counted> call) {
		return this.rounds.run(new RoundWait(label, number, MINUTE, client), () -> SEVEN, call);
	}

	private static void awaitLatch(CountDownLatch latch) {
		try {
			assertThat(latch.await(20, TimeUnit.SECONDS)).isTrue();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static <T> CompletableFuture<T> onThread(Supplier<T> task) {
		return CompletableFuture.supplyAsync(task, (run) -> Thread.ofVirtual().start(run));
	}

}
