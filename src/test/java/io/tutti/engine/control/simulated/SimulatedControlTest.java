package io.tutti.engine.control.simulated;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

import io.tutti.CollectiveException;
import io.tutti.Collective;
import io.tutti.Failure;
import io.tutti.Failure.Kind;
import io.tutti.PeerLostException;
import io.tutti.engine.control.BarrierOutcome;
import io.tutti.engine.control.BarrierOutcome.Result;
import io.tutti.engine.control.ControlPlane;
import io.tutti.engine.control.PeerAddress;
import io.tutti.engine.control.PeerStatus;
import io.tutti.engine.control.RecordedControlEvents;
import io.tutti.engine.control.RoundWait;
import org.awaitility.Awaitility;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(30)
class SimulatedControlTest {

	private static final int WORLD_SIZE = 4;

	private static final Duration LONG = Duration.ofSeconds(20);

	private final SimulatedControl world = new SimulatedControl(WORLD_SIZE);

	private final List<RecordedControlEvents> events = new ArrayList<>();

	private final List<ControlPlane> controls = new ArrayList<>();

	SimulatedControlTest() {
		for (int rank = 0; rank < WORLD_SIZE; rank++) {
			this.events.add(new RecordedControlEvents());
			this.controls.add(this.world.join(rank, this.events.get(rank)));
		}
	}

	@Test
	void aKilledRankIsLostForAllOtherRanks() {
		this.world.kill(2);
		for (int rank : new int[] { 0, 1, 3 }) {
			assertThat(verdict(rank).kind()).isEqualTo(Kind.PEER_LOST);
			assertThat(verdict(rank).ranks()).containsExactly(2);
		}
		assertThat(this.events.get(2).failures).isEmpty();
		assertThat(this.controls.get(0).peers().get(1).state()).isEqualTo(PeerStatus.State.LOST);
		assertThatThrownBy(() -> this.controls.get(1).barrier("b", LONG)).isInstanceOf(PeerLostException.class);
	}

	@Test
	void anErrorOfTheControlThreadFailsAllRanks() {
		SimulatedControl broken = new SimulatedControl(2);
		RecordedControlEvents recorded = new RecordedControlEvents();
		broken.join(0, recorded);
		broken.join(1, new RecordedControlEvents() {
			@Override
			public void drainRequested(String reason) {
				throw new StackOverflowError("too deep");
			}
		}).requestDrain("now");
		await(() -> assertThat(recorded.failures).singleElement()
			.satisfies((failure) -> assertThat(failure.kind()).isEqualTo(Kind.PEER_LOST))
			.satisfies((failure) -> assertThat(failure.detail()).contains("StackOverflowError: too deep")));
	}

	@Test
	void theFirstReportIsTheVerdictForAllRanks() {
		IntStream.range(0, WORLD_SIZE)
			.parallel()
			.forEach((rank) -> this.controls.get(rank)
				.report(Failure.outside(Kind.ABORTED, Failure.WORLD, List.of(rank), "by " + rank)));
		this.controls.get(0).requestDrain("comes after the reports");
		await(() -> assertThat(this.events).allMatch((recorded) -> recorded.drains.size() == 1));
		assertThat(this.events).allSatisfy(
				(recorded) -> assertThat(recorded.failures).containsOnly(this.events.get(0).failures.getFirst()));
	}

	@Test
	void aTimeoutNamesTheRankThatIsBehind() {
		this.events.forEach((recorded) -> recorded.entered.put(Failure.WORLD, 3L));
		this.events.get(1).entered.put(Failure.WORLD, 2L);
		this.controls.get(0)
			.report(new Failure(Kind.TIMEOUT, Failure.WORLD, 3, Collective.BARRIER, List.of(), "waited", LONG, LONG));
		assertThat(verdict(3).ranks()).containsExactly(1);
		assertThat(verdict(3).detail()).isEqualTo("rank 1 was last in #2");
	}

	@Test
	void barriersPassBreakAndInformLateRanks() {
		List<CompletableFuture<BarrierOutcome>> together = IntStream.range(0, WORLD_SIZE)
			.mapToObj((rank) -> barrier(rank, LONG))
			.toList();
		assertThat(together).allMatch((wait) -> wait.join().result() == Result.PASSED);
		BarrierOutcome broken = this.controls.get(3).barrier("b", Duration.ofMillis(20));
		assertThat(broken.result()).isEqualTo(Result.BROKEN);
		assertThat(broken.missingRanks()).containsExactly(0, 1, 2);
		assertThat(this.controls.get(1).barrier("b", LONG).result()).isEqualTo(Result.LATE);
	}

	@Test
	void closingARankIsNoFailure() {
		this.controls.get(1).close();
		this.controls.get(1).close();
		await(() -> assertThat(this.controls.get(0).peers().getFirst().state()).isEqualTo(PeerStatus.State.LEFT));
		assertThat(this.events).allMatch((recorded) -> recorded.failures.isEmpty());
	}

	@Test
	void anInterruptedRankDoesNotCountAtTheBarrier() throws Exception {
		CompletableFuture<Throwable> given = new CompletableFuture<>();
		Thread impatient = Thread.ofPlatform().start(() -> {
			try {
				this.controls.get(3).barrier("b", LONG);
				given.complete(null);
			}
			catch (CancellationException ex) {
				given.complete(ex);
			}
		});
		List<CompletableFuture<BarrierOutcome>> others = IntStream.range(0, 2)
			.mapToObj((rank) -> barrier(rank, Duration.ofSeconds(1)))
			.toList();
		await(() -> assertThat(impatient.getState()).isEqualTo(Thread.State.TIMED_WAITING));
		impatient.interrupt();
		assertThat(given.get(10, TimeUnit.SECONDS)).isNotNull();
		assertThat(this.controls.get(2).barrier("b", LONG).missingRanks()).containsExactly(3);
		assertThat(others).allMatch((wait) -> wait.join().result() == Result.BROKEN);
	}

	/**
	 * The client disconnects before the last rank enters, and no probe runs meanwhile.
	 */
	@Test
	void aCallOfADisconnectedClientIsNotCounted() {
		AtomicBoolean there = new AtomicBoolean(true);
		CompletableFuture<BarrierOutcome> abandoned = onThread(
				() -> this.controls.get(3).barrier(new RoundWait("b", RoundWait.NEXT, LONG, there::get)));
		await(() -> assertThat(this.controls.get(0).echo()).isDone());
		there.set(false);
		List<CompletableFuture<BarrierOutcome>> others = IntStream.range(0, 3)
			.mapToObj((rank) -> barrier(rank, LONG))
			.toList();
		assertThat(abandoned.join().result()).isEqualTo(Result.WITHDRAWN);
		assertThat(others).noneMatch(CompletableFuture::isDone);
		BarrierOutcome passed = this.controls.get(3).barrier("b", LONG);
		assertThat(passed.result()).isEqualTo(Result.PASSED);
		assertThat(passed.round()).isZero();
		assertThat(others).allMatch((wait) -> wait.join().result() == Result.PASSED);
	}

	@Test
	void aCallOfAConnectedClientIsCounted() {
		List<CompletableFuture<BarrierOutcome>> all = IntStream.range(0, WORLD_SIZE)
			.mapToObj(
					(rank) -> onThread(() -> this.controls.get(rank).barrier(new RoundWait("b", 12, LONG, () -> true))))
			.toList();
		assertThat(all).allMatch((wait) -> wait.join().result() == Result.PASSED && wait.join().round() == 12);
	}

	@Test
	void aRankThatLeavesEndsTheBarriersOfTheOthers() {
		CompletableFuture<BarrierOutcome> gone = barrier(3, LONG);
		List<CompletableFuture<BarrierOutcome>> others = IntStream.range(0, 2)
			.mapToObj((rank) -> barrier(rank, Duration.ofSeconds(5)))
			.toList();
		this.controls.get(3).close();
		assertThat(gone).failsWithin(10, TimeUnit.SECONDS);
		for (CompletableFuture<BarrierOutcome> ended : Stream
			.concat(others.stream(), Stream.of(barrier(2, Duration.ofSeconds(5))))
			.toList()) {
			assertThat(ended).failsWithin(10, TimeUnit.SECONDS)
				.withThrowableThat()
				.havingCause()
				.isInstanceOf(CollectiveException.class)
				.withMessageContaining("rank 3 lost: it has left the group");
		}
	}

	@Test
	void aRankJoinsOnceAndWithinTheWorld() {
		assertThatIllegalArgumentException().isThrownBy(() -> this.world.join(1, this.events.get(1)));
		assertThatIllegalArgumentException().isThrownBy(() -> this.world.join(WORLD_SIZE, this.events.get(1)))
			.withMessageContaining("0..3");
		assertThatIllegalArgumentException().isThrownBy(() -> new SimulatedControl(0));
	}

	@Test
	void theThreadEndsWhenIdle() {
		String thread = "tutti-idle-control";
		SimulatedControl world = new SimulatedControl(thread,
				List.of(new PeerAddress(0, "host", 1, "host"), new PeerAddress(1, "host", 2, "host")));
		RecordedControlEvents zero = new RecordedControlEvents();
		world.join(0, zero).requestDrain("x");
		world.join(1, new RecordedControlEvents());
		await(() -> assertThat(zero.drains).hasSize(1));
		await(() -> assertThat(Thread.getAllStackTraces().keySet()).extracting(Thread::getName).doesNotContain(thread));
		world.kill(1);
		await(() -> assertThat(zero.failures).singleElement()
			.satisfies((failure) -> assertThat(failure.ranks()).containsExactly(1)));
	}

	private CompletableFuture<BarrierOutcome> barrier(int rank, Duration timeout) {
		return onThread(() -> this.controls.get(rank).barrier("b", timeout));
	}

	private static <T> CompletableFuture<T> onThread(Supplier<T> task) {
		return CompletableFuture.supplyAsync(task, (run) -> Thread.ofVirtual().start(run));
	}

	private Failure verdict(int rank) {
		await(() -> assertThat(this.events.get(rank).failures).isNotEmpty());
		return this.events.get(rank).failures.getFirst();
	}

	private static void await(ThrowingRunnable assertion) {
		Awaitility.await().atMost(Duration.ofSeconds(15)).pollInterval(Duration.ofMillis(5)).untilAsserted(assertion);
	}

}
