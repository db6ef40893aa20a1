package io.tutti.engine.bootstrap;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.tutti.Collective;
import io.tutti.CollectiveException;
import io.tutti.Failure;
import io.tutti.Failure.Kind;
import io.tutti.PeerLostException;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.control.BarrierOutcome;
import io.tutti.engine.control.BarrierOutcome.Result;
import io.tutti.engine.control.ControlListener;
import io.tutti.engine.control.ControlMessage.Challenge;
import io.tutti.engine.control.ControlMessage.Hello;
import io.tutti.engine.control.ControlMessage.Leave;
import io.tutti.engine.control.ControlMessage.Ping;
import io.tutti.engine.control.ControlMessage.Pong;
import io.tutti.engine.control.ControlMessage.Proof;
import io.tutti.engine.control.ControlMessage.Report;
import io.tutti.engine.control.ControlMessage.Roster;
import io.tutti.engine.control.ControlMessage.Verdict;
import io.tutti.engine.control.ControlMessage.Welcome;
import io.tutti.engine.control.ControlPlane;
import io.tutti.engine.control.Departure;
import io.tutti.engine.control.Membership;
import io.tutti.engine.control.PeerStatus;
import io.tutti.engine.control.RankProgress;
import io.tutti.engine.control.RecordedControlEvents;
import io.tutti.engine.control.RendezvousException;
import io.tutti.engine.control.RendezvousSettings;
import io.tutti.engine.spi.CallReport;
import io.tutti.engine.spi.Deadline;
import io.tutti.engine.spi.GroupIdentity;
import org.awaitility.Awaitility;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/** Tests the control plane over real connections, after rendezvous. */
@Order(5)
@Timeout(60)
class ControlPlaneTest {

	private static final Duration LONG = Duration.ofSeconds(20);

	@Test
	void aRankWhoseConnectionEndsIsLostAtOnceForAllRanks() {
		try (TestWorld world = new TestWorld(4); RawRank raw = joinWithRaw(world, 2, TestWorld.SETTINGS)) {
			raw.crash();
			for (int rank : new int[] { 0, 1, 3 }) {
				Failure verdict = verdict(world, rank);
				assertThat(verdict.kind()).isEqualTo(Kind.PEER_LOST);
				assertThat(verdict.ranks()).containsExactly(2);
				assertThat(verdict.detail()).isEqualTo("its connection closed");
			}
			assertThat(stateOf(world.control(0), 2)).isEqualTo(PeerStatus.State.LOST);
			await(() -> assertThat(stateOf(world.control(1), 2)).isEqualTo(PeerStatus.State.LOST));
		}
	}

	@Test
	void aSilentRankIsLostAfterTheHeartbeatLimit() {
		long start = System.nanoTime();
		try (TestWorld world = new TestWorld(3);
				RawRank raw = joinWithRaw(world, 1, TestWorld.heartbeat(Duration.ofMillis(600)))) {
			for (int rank : new int[] { 0, 2 }) {
				assertThat(verdict(world, rank).ranks()).containsExactly(1);
				assertThat(verdict(world, rank).detail()).isEqualTo("silent for 600 ms");
			}
			assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(Duration.ofMillis(500));
			assertThat(raw.await(Verdict.class).failure().ranks()).containsExactly(1);
		}
	}

	@Test
	void idleRanksThatAnswerHeartbeatsAreNotLost() {
		try (TestWorld world = TestWorld.met(3, TestWorld.heartbeat(Duration.ofMillis(1500)))) {
			Awaitility.await()
				.during(Duration.ofSeconds(4))
				.atMost(Duration.ofSeconds(8))
				.untilAsserted(() -> assertThat(world.events).allMatch((events) -> events.failures.isEmpty()));
			await(() -> assertThat(world.control(1).peers()).allSatisfy((peer) -> {
				assertThat(peer.state()).isEqualTo(PeerStatus.State.UP);
				assertThat(peer.roundTripMicros()).isPositive();
				assertThat(peer.lastSeenMillis()).isBetween(0L, 3000L);
			}));
		}
	}

	@Test
	void rankZeroLostIsTheCauseOnEveryRank() {
		try (TestWorld world = new TestWorld(3); RawRankZero zero = new RawRankZero(world, TestWorld.SETTINGS)) {
			zero.crash();
			for (int rank : new int[] { 1, 2 }) {
				assertThat(verdict(world, rank).kind()).isEqualTo(Kind.PEER_LOST);
				assertThat(verdict(world, rank).ranks()).containsExactly(0);
				assertThat(verdict(world, rank).detail()).isEqualTo("its connection closed");
				assertThat(stateOf(world.control(rank), 0)).isEqualTo(PeerStatus.State.LOST);
			}
			PeerLostException ex = catchThrowableOfType(PeerLostException.class,
					() -> world.control(1).barrier("b", Duration.ofSeconds(5)));
			assertThat(ex.failure().ranks()).containsExactly(0);
		}
	}

	@Test
	void aSilentRankZeroIsLostAfterTheHeartbeatLimitAndIsInformed() {
		RendezvousSettings quick = TestWorld.heartbeat(Duration.ofMillis(500));
		try (TestWorld world = new TestWorld(3); RawRankZero zero = new RawRankZero(world, quick)) {
			assertThat(verdict(world, 1).ranks()).containsExactly(0);
			assertThat(verdict(world, 2).detail()).isEqualTo("silent for 500 ms");
			assertThat(zero.rank(1).await(Leave.class)).isEqualTo(new Leave("silent for 500 ms", true));
		}
	}

	@Test
	void aRankThatLosesRankZeroDuringRendezvousConnectsAgain() {
		TestWorld world = new TestWorld(2);
		CompletableFuture<Membership> one = world.joining(1, TestWorld.SETTINGS);
		try (ServerSocket first = new ServerSocket(world.port, 1, InetAddress.getLoopbackAddress())) {
			RawRankZero.welcome(first.accept()).close();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		try (world) {
			world.members.put(0, TestWorld.join(world.joining(0, TestWorld.SETTINGS)));
			world.members.put(1, TestWorld.join(one));
		}
	}

	@Test
	void aRosterOfAnotherWorldSizeIsRejected() {
		TestWorld world = new TestWorld(2);
		Deadline deadline = TestWorld.held(Duration.ofMillis(500));
		CompletableFuture<Membership> one;
		try (ServerSocket confused = new ServerSocket(world.port, 1, InetAddress.getLoopbackAddress())) {
			one = world.joining(1, TestWorld.SETTINGS, deadline);
			try (RawRank raw = RawRankZero.welcome(confused.accept())) {
				raw.send(new Roster(0, new byte[32], "", List.of()));
				assertThat(raw.isHungUpOn()).isTrue();
			}
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
		TestWorld.start(deadline);
		assertThat(TestWorld.refusal(one)).hasMessageContaining("could not be reached");
	}

	@Test
	void aRankZeroWithoutTheTokenIsRejected() {
		TestWorld world = new TestWorld(2);
		CompletableFuture<Membership> one = world.joining(1, TestWorld.token("secret"));
		try (ServerSocket impostor = new ServerSocket(world.port, 1, InetAddress.getLoopbackAddress());
				RawRank raw = new RawRank(impostor.accept())) {
			raw.await(Hello.class);
			raw.send(new Challenge(new byte[32]));
			raw.await(Proof.class);
			raw.send(new Welcome(new byte[32]));
			RendezvousException ex = TestWorld.refusal(one);
			assertThat(ex.reason()).isEqualTo(RendezvousException.Reason.AUTHENTICATION);
			assertThat(raw.isReset()).as("it has proved itself, and rank 0 may count it as joined").isTrue();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	@Test
	void anOrderlyLeaveIsNoFailure() {
		try (TestWorld world = TestWorld.met(3)) {
			world.control(1).close();
			await(() -> assertThat(stateOf(world.control(0), 1)).isEqualTo(PeerStatus.State.LEFT));
			await(() -> assertThat(stateOf(world.control(2), 1)).isEqualTo(PeerStatus.State.LEFT));
			assertThat(world.events).allMatch((events) -> events.failures.isEmpty());
		}
	}

	@Test
	void rankZeroMayLeaveFirstWithoutBeingLost() {
		try (TestWorld world = TestWorld.met(3)) {
			world.control(0).close();
			await(() -> assertThat(stateOf(world.control(1), 0)).isEqualTo(PeerStatus.State.LEFT));
			await(() -> assertThat(stateOf(world.control(2), 0)).isEqualTo(PeerStatus.State.LEFT));
			assertThat(world.events).allMatch((events) -> events.failures.isEmpty());
			assertThatThrownBy(() -> world.control(1).barrier("b", LONG)).isInstanceOf(PeerLostException.class)
				.hasMessageContaining("has left");
			world.control(1).report(aborted(1, "alone"));
			assertThat(verdict(world, 1).detail()).isEqualTo("alone");
		}
	}

	@Test
	void aDepartureFromAGroupIsSentToItsRemainingRanks() {
		try (TestWorld world = TestWorld.met(4)) {
			GroupIdentity side = new GroupIdentity("side", 1, List.of(0, 1, 3), 0);
			world.control(1).left(side, 7);
			await(() -> assertThat(world.events.get(0).departures).containsExactly(new Departure(1, "side", 7)));
			await(() -> assertThat(world.events.get(3).departures).containsExactly(new Departure(1, "side", 7)));
			world.control(1).close();
			await(() -> assertThat(world.events.get(2).departures).containsExactly(Departure.fromEveryGroup(1)));
		}
	}

	@Test
	void rankZeroSendsItsDepartureFromAGroupBeforeItLeaves() {
		try (TestWorld world = TestWorld.met(2)) {
			world.control(0).left(GroupIdentity.world(0, 2, 0), 3);
			world.control(0).close();
			await(() -> assertThat(world.events.get(1).departures).containsExactly(new Departure(0, Failure.WORLD, 3),
					Departure.fromEveryGroup(0)));
		}
	}

	@Test
	void aReportWithoutAVerdictIsResolvedLocallyWhenRankZeroLeaves() {
		try (TestWorld world = TestWorld.met(3)) {
			Failure suspicion = Failure.outside(Failure.Kind.PEER_LOST, "side", List.of(2), "suspected");
			world.control(1).report(suspicion);
			world.control(0).close();
			assertThat(verdict(world, 1)).isEqualTo(suspicion);
		}
	}

	@Test
	void theFirstReportIsTheVerdictOnEveryRank() {
		try (TestWorld world = TestWorld.met(4)) {
			world.control(2).report(aborted(2, "first"));
			assertThat(verdict(world, 3).detail()).isEqualTo("first");
			world.control(1).report(aborted(1, "second"));
			world.control(3).requestDrain("a message that comes after the second report");
			for (int rank = 0; rank < 4; rank++) {
				RecordedControlEvents events = world.events.get(rank);
				await(() -> assertThat(events.drains).hasSize(1));
				assertThat(events.failures).extracting(Failure::detail).containsOnly("first");
			}
		}
	}

	@Test
	void concurrentReportsGiveAllRanksOneVerdict() {
		try (TestWorld world = TestWorld.met(5)) {
			IntStream.range(0, 5).parallel().forEach((rank) -> world.control(rank).report(aborted(rank, "by " + rank)));
			Failure verdict = verdict(world, 0);
			for (int rank = 0; rank < 5; rank++) {
				assertThat(verdict(world, rank)).isEqualTo(verdict);
			}
		}
	}

	@Test
	void aTimeoutNamesRanksThatAreBehindOrSilent() {
		try (TestWorld world = new TestWorld(4); RawRank raw = joinWithRaw(world, 3, TestWorld.SETTINGS)) {
			world.events.get(0).entered.put(Failure.WORLD, 17L);
			world.events.get(1).entered.put(Failure.WORLD, 17L);
			world.events.get(2).entered.put(Failure.WORLD, 16L);
			raw.send(new Pong(raw.await(Ping.class).sentNanos(), List.of(new RankProgress(Failure.WORLD, 15))));
			Failure seen = new Failure(Kind.TIMEOUT, Failure.WORLD, 17, Collective.ALL_REDUCE, List.of(0), "waited",
					Duration.ofSeconds(3), Duration.ofSeconds(3));
			world.control(1).report(seen);
			for (int rank : new int[] { 0, 1, 2 }) {
				Failure verdict = verdict(world, rank);
				assertThat(verdict.kind()).isEqualTo(Kind.TIMEOUT);
				assertThat(verdict.ranks()).containsExactly(2, 3);
				assertThat(verdict.detail()).matches("rank 2 was last in #16, rank 3 has not"
						+ " answered for \\d+ ms since it was asked; it was last seen in #15, \\d+ ms ago");
				assertThat(verdict.sequence()).isEqualTo(17);
				assertThat(verdict.collective()).isEqualTo(Collective.ALL_REDUCE);
				assertThat(verdict.timeout()).isEqualTo(Duration.ofSeconds(3));
			}
			assertThat(raw.await(Verdict.class).failure()).isEqualTo(verdict(world, 0));
		}
	}

	@Test
	void theVerdictNamesTheRankThatFailedFirst() {
		try (TestWorld world = new TestWorld(4);
				RawRank raw = joinWithRaw(world, 3, TestWorld.verdict(Duration.ofSeconds(3)))) {
			world.control(1).report(lost(2, "its data connection closed"));
			raw.crash();
			for (int rank = 0; rank < 3; rank++) {
				assertThat(verdict(world, rank).ranks()).containsExactly(3);
			}
		}
	}

	@Test
	void aLostDataConnectionAloneBecomesAVerdict() {
		try (TestWorld world = TestWorld.met(3)) {
			world.control(1).report(lost(2, "its data connection closed"));
			assertThat(verdict(world, 2).ranks()).containsExactly(2);
			assertThat(verdict(world, 0).detail()).isEqualTo("its data connection closed");
		}
	}

	@Test
	void aDrainReachesEveryRankExactlyOnce() {
		try (TestWorld world = TestWorld.met(3)) {
			world.control(1).requestDrain("maintenance");
			world.control(2).requestDrain("another");
			world.control(0).requestDrain("a third");
			world.control(1).barrier("after", Duration.ofMillis(50));
			world.control(2).barrier("after", Duration.ofMillis(50));
			world.control(0).barrier("after", Duration.ofMillis(50));
			for (RecordedControlEvents events : world.events) {
				await(() -> assertThat(events.drains).hasSize(1));
			}
			assertThat(world.events).extracting((events) -> events.drains).containsOnly(world.events.get(0).drains);
		}
	}

	@Test
	void aRollCallReturnsOnlyRanksThatAreUp() {
		try (TestWorld world = TestWorld.met(3)) {
			assertThat(world.control(1).rollCall(LONG)).containsOnlyKeys(0, 1, 2)
				.allSatisfy((rank, roundTrip) -> assertThat(roundTrip).isLessThan(LONG));
			world.control(2).close();
			await(() -> assertThat(world.control(1).rollCall(Duration.ofMillis(300))).containsOnlyKeys(0, 1));
		}
	}

	@Test
	void echoCompletesWithAndWithoutRankZero() {
		try (TestWorld world = TestWorld.met(2)) {
			assertThat(world.control(0).echo()).succeedsWithin(LONG);
			assertThat(world.control(1).echo()).succeedsWithin(LONG);
			world.control(0).close();
			assertThat(world.control(1).echo()).succeedsWithin(LONG);
			assertThat(world.control(0).echo()).succeedsWithin(LONG);
		}
	}

	@Test
	void allRanksPassABarrier() {
		try (TestWorld world = TestWorld.met(4)) {
			List<CompletableFuture<BarrierOutcome>> waits = IntStream.range(0, 4)
				.mapToObj((rank) -> barrier(world, rank, "epoch", LONG))
				.toList();
			assertThat(waits).allSatisfy((wait) -> {
				BarrierOutcome outcome = TestWorld.join(wait);
				assertThat(outcome.result()).isEqualTo(Result.PASSED);
				assertThat(outcome.round()).isZero();
				assertThat(outcome.arrived()).isEqualTo(4);
				assertThat(outcome.skewMillis()).hasSize(4).allMatch((skew) -> skew >= 0);
				assertThat(outcome.missingRanks()).isEmpty();
			});
		}
	}

	@Test
	void aBrokenBarrierNamesTheSameMissingRanksAndInformsTheLateRank() {
		try (TestWorld world = TestWorld.met(3)) {
			CompletableFuture<BarrierOutcome> zero = new CompletableFuture<>();
			// Waits only once its request is on the way.
			Thread arriving = enter(world, 0, "b", LONG, zero);
			await(() -> assertThat(arriving.getState()).isEqualTo(Thread.State.TIMED_WAITING));
			CompletableFuture<BarrierOutcome> one = barrier(world, 1, "b", Duration.ofMillis(200));
			for (CompletableFuture<BarrierOutcome> wait : List.of(zero, one)) {
				assertThat(TestWorld.join(wait).result()).isEqualTo(Result.BROKEN);
				assertThat(TestWorld.join(wait).missingRanks()).containsExactly(2);
			}
			BarrierOutcome late = world.control(2).barrier("b", LONG);
			assertThat(late.result()).isEqualTo(Result.LATE);
			assertThat(late.round()).isZero();
			List<CompletableFuture<BarrierOutcome>> next = IntStream.range(0, 3)
				.mapToObj((rank) -> barrier(world, rank, "b", LONG))
				.toList();
			assertThat(next).allMatch((wait) -> TestWorld.join(wait).result() == Result.PASSED);
			assertThat(next).allMatch((wait) -> TestWorld.join(wait).round() == 1);
		}
	}

	@Test
	void aBarrierEndsWhenTheGroupBreaks() {
		try (TestWorld world = TestWorld.met(3)) {
			CompletableFuture<BarrierOutcome> one = barrier(world, 1, "b", LONG);
			world.control(2).report(aborted(2, "enough"));
			assertThatThrownBy(() -> TestWorld.join(one)).cause().isInstanceOf(CollectiveException.class);
			assertThatThrownBy(() -> world.control(1).barrier("b", LONG)).isInstanceOf(CollectiveException.class)
				.hasMessageContaining("enough");
		}
	}

	@Test
	void aBarrierChecksItsArguments() {
		try (TestWorld world = TestWorld.met(2)) {
			ControlPlane control = world.control(1);
			assertThatIllegalArgumentException().isThrownBy(() -> control.barrier("", LONG));
			assertThatIllegalArgumentException().isThrownBy(() -> control.barrier("x".repeat(257), LONG))
				.withMessageContaining("1..256")
				.withMessageContaining("257");
			assertThatIllegalArgumentException().isThrownBy(() -> control.barrier("b", Duration.ZERO));
			control.close();
			assertThatThrownBy(() -> control.barrier("b", LONG)).isInstanceOf(CollectiveException.class)
				.hasMessageContaining("it has left the group");
		}
	}

	@Test
	void anInterruptEndsABarrierOnlyForTheInterruptedThread() throws InterruptedException {
		try (TestWorld world = TestWorld.met(2)) {
			CompletableFuture<Boolean> flagKept = new CompletableFuture<>();
			Thread waiting = Thread.ofPlatform().start(() -> {
				try {
					world.control(1).barrier("b", LONG);
				}
				catch (CancellationException ex) {
					flagKept.complete(Thread.currentThread().isInterrupted());
				}
			});
			waiting.interrupt();
			assertThat(TestWorld.join(flagKept)).isTrue();
			waiting.join(Duration.ofSeconds(5));
			assertThat(world.events).allMatch((events) -> events.failures.isEmpty());
		}
	}

	@Test
	void aListenerThatThrowsDoesNotEndTheControlPlane() {
		TestWorld world = new TestWorld(2);
		CompletableFuture<Membership> zero = world.joining(0, TestWorld.SETTINGS);
		ControlListener hostile = new ThrowingEvents();
		Membership one = Rendezvous.join(new RankAssignment(1, 2, 0, 1, world.host, world.port), TestWorld.SETTINGS,
				hostile, Deadline.after(LONG));
		try (world) {
			world.members.put(0, TestWorld.join(zero));
			world.members.put(1, one);
			world.control(0).requestDrain("now");
			world.control(0)
				.report(new Failure(Kind.TIMEOUT, "side", 5, Collective.BARRIER, List.of(), "waited", LONG, LONG));
			assertThat(verdict(world, 0).detail()).contains("rank 1 has entered no call");
			assertThat(world.control(1).barrier("b", Duration.ofMillis(50)).result()).isEqualTo(Result.BROKEN);
		}
	}

	@Test
	void aRankThatSendsGarbageIsLost() {
		try (TestWorld world = new TestWorld(3); RawRank raw = joinWithRaw(world, 2, TestWorld.SETTINGS)) {
			raw.send(new byte[] { 0, 0, 0, 2, 99, 99 });
			assertThat(verdict(world, 1).ranks()).containsExactly(2);
			assertThat(verdict(world, 1).detail()).contains("no message has type 99");
		}
	}

	@Test
	void aLiveProcessThatDropsAConnectionDoesNotLookDead() {
		try (TestWorld world = new TestWorld(2); RawRank raw = joinWithRaw(world, 1, TestWorld.SETTINGS)) {
			raw.send(new byte[] { 0, 0, 0, 2, 99, 99 });
			assertThat(raw.isReset()).isTrue();
			assertThat(world.events.getFirst().closedByKernel).isEmpty();
		}
		try (TestWorld world = new TestWorld(2); RawRankZero zero = new RawRankZero(world, TestWorld.SETTINGS)) {
			zero.rank(1).send(new byte[] { 0, 0, 0, 2, 99, 99 });
			assertThat(zero.rank(1).isReset()).isTrue();
			assertThat(world.events.getLast().closedByKernel).isEmpty();
		}
	}

	@Test
	void aProcessThatEndsIsKnownToBeDead() {
		try (TestWorld world = new TestWorld(2); RawRank raw = joinWithRaw(world, 1, TestWorld.SETTINGS)) {
			raw.crash();
			await(() -> assertThat(world.events.getFirst().closedByKernel).containsExactly(1));
		}
		try (TestWorld world = new TestWorld(2); RawRankZero zero = new RawRankZero(world, TestWorld.SETTINGS)) {
			zero.crash();
			await(() -> assertThat(world.events.getLast().closedByKernel).containsExactly(0));
		}
	}

	@Test
	void aRankThatLosesContactToRankZeroIsLostForTheOtherRanks() {
		try (TestWorld world = new TestWorld(3); RawRank raw = joinWithRaw(world, 2, TestWorld.SETTINGS)) {
			raw.send(new Leave("silent for 30 s", true));
			assertThat(verdict(world, 1).ranks()).containsExactly(2);
			assertThat(verdict(world, 0).detail()).contains("partitioned from rank 0").contains("silent for 30 s");
		}
	}

	@Test
	void aRankThatGaveUpAsTheLastOneJoinedIsLostWithItsReason() {
		try (TestWorld world = new TestWorld(3); RawRank raw = joinWithRaw(world, 2, TestWorld.SETTINGS)) {
			raw.send(new Leave("its deadline has passed", false));
			assertThat(verdict(world, 1).ranks()).containsExactly(2);
			assertThat(verdict(world, 0).detail())
				.isEqualTo("it had given up when the last rank joined: its deadline has passed");
		}
	}

	@Test
	void theLastReportOfARankThatEndsStillArrives() {
		try (TestWorld world = new TestWorld(3); RawRank raw = joinWithRaw(world, 2, TestWorld.SETTINGS)) {
			raw.send(new Report(aborted(2, "last words")));
			raw.crash();
			assertThat(verdict(world, 1).detail()).isEqualTo("last words");
		}
	}

	private static RawRank joinWithRaw(TestWorld world, int rawRank, RendezvousSettings settings) {
		List<CompletableFuture<Membership>> joining = IntStream.range(0, world.worldSize)
			.mapToObj((rank) -> (rank == rawRank) ? null : world.joining(rank, settings))
			.toList();
		RawRank raw = new RawRank(world.port).join(rawRank, world.worldSize);
		raw.await(Roster.class);
		for (int rank = 0; rank < world.worldSize; rank++) {
			if (rank != rawRank) {
				world.members.put(rank, TestWorld.join(joining.get(rank)));
			}
		}
		return raw;
	}

	private static CompletableFuture<BarrierOutcome> barrier(TestWorld world, int rank, String label,
			Duration timeout) {
		CompletableFuture<BarrierOutcome> result = new CompletableFuture<>();
		enter(world, rank, label, timeout, result);
		return result.orTimeout(30, TimeUnit.SECONDS);
	}

	/**
	 * Enters a barrier on a thread of its own, and completes the result with the outcome.
	 */
	private static Thread enter(TestWorld world, int rank, String label, Duration timeout,
			CompletableFuture<BarrierOutcome> result) {
		return Thread.ofVirtual().start(() -> {
			try {
				result.complete(world.control(rank).barrier(label, timeout));
			}
			catch (Throwable ex) {
				result.completeExceptionally(ex);
			}
		});
	}

	private static Failure verdict(TestWorld world, int rank) {
		RecordedControlEvents events = world.events.get(rank);
		await(() -> assertThat(events.failures).as("verdicts of rank %d", rank).isNotEmpty());
		return events.failures.getFirst();
	}

	private static void await(ThrowingRunnable assertion) {
		Awaitility.await().atMost(Duration.ofSeconds(15)).pollInterval(Duration.ofMillis(5)).untilAsserted(assertion);
	}

	private static PeerStatus.State stateOf(ControlPlane control, int rank) {
		return control.peers().stream().filter((peer) -> peer.rank() == rank).findFirst().orElseThrow().state();
	}

	private static Failure aborted(int rank, String detail) {
		return Failure.outside(Kind.ABORTED, Failure.WORLD, List.of(rank), detail);
	}

	private static Failure lost(int rank, String detail) {
		return Failure.outside(Kind.PEER_LOST, Failure.WORLD, List.of(rank), detail);
	}

	/** Throws from every method. */
	private static final class ThrowingEvents implements ControlListener {

		@Override
		public void failed(Failure verdict) {
			throw new IllegalStateException("failed");
		}

		@Override
		public void drainRequested(String reason) {
			throw new IllegalStateException("drain");
		}

		@Override
		public CallReport called(String group, long sequence) {
			throw new IllegalStateException("called");
		}

		@Override
		public long lastEntered(String group) {
			throw new IllegalStateException("entered");
		}

		@Override
		public List<Integer> members(String group) {
			throw new IllegalStateException("members");
		}

		@Override
		public void note(String message) {
			throw new IllegalStateException("note");
		}

		@Override
		public void warn(String message) {
			throw new IllegalStateException("warn");
		}

	}

}
