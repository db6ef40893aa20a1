package io.tutti.engine.bootstrap;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

import io.tutti.engine.RankAssignment;
import io.tutti.engine.control.BarrierOutcome;
import io.tutti.engine.control.Membership;
import io.tutti.engine.control.PeerAddress;
import io.tutti.engine.control.PeerStatus;
import io.tutti.engine.control.RendezvousException;
import io.tutti.engine.control.RendezvousException.Reason;
import io.tutti.engine.control.RendezvousSettings;
import io.tutti.engine.spi.Deadline;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Order(5)
@Timeout(60)
class RendezvousTest {

	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 3, 5, 8 })
	void ranksJoinInAnyOrderAndGetTheSameMembership(int worldSize) {
		TestWorld world = new TestWorld(worldSize);
		List<Integer> order = new ArrayList<>(IntStream.range(0, worldSize).boxed().toList());
		Collections.shuffle(order, new Random(worldSize));
		Map<Integer, CompletableFuture<Membership>> joining = new HashMap<>();
		order.forEach((rank) -> joining.put(rank, world.joining(rank, TestWorld.SETTINGS)));
		joining.forEach((rank, member) -> world.members.put(rank, TestWorld.join(member)));
		try (world) {
			Membership first = world.members.get(0);
			assertThat(world.members.values()).allSatisfy((member) -> {
				assertThat(member.generation()).isZero();
				assertThat(member.roster()).isEqualTo(first.roster());
				assertThat(member.roster()).extracting(PeerAddress::rank)
					.containsExactlyElementsOf(IntStream.range(0, worldSize).boxed().toList());
				assertThat(member.sessionKey().prove(new byte[] { 1 }))
					.isEqualTo(first.sessionKey().prove(new byte[] { 1 }))
					.hasSize(32);
				assertThat(member.control().peers()).hasSize(worldSize - 1)
					.allMatch((peer) -> peer.host().equals("127.0.0.1") && peer.port() == 7000);
			});
			assertThat(first.roster()).allSatisfy((peer) -> {
				assertThat(peer.host()).isEqualTo("127.0.0.1");
				assertThat(peer.port()).isEqualTo(7000);
				assertThat(peer.hostIdentity()).isEqualTo(HostIdentity.ofThisHost());
			});
		}
	}

	@Test
	void aWorldOfOneOpensNoPort() throws IOException {
		TestWorld world = new TestWorld(1);
		try (ServerSocket taken = new ServerSocket(world.port, 1, InetAddress.getLoopbackAddress())) {
			world.joinAll(TestWorld.SETTINGS);
			assertThat(taken.isBound()).isTrue();
			BarrierOutcome alone = world.control(0).barrier("alone", Duration.ofSeconds(5));
			assertThat(alone.result()).isEqualTo(BarrierOutcome.Result.PASSED);
			world.close();
		}
	}

	@Test
	void rankZeroMayStartLast() throws InterruptedException {
		TestWorld world = new TestWorld(3);
		CompletableFuture<Membership> one = world.joining(1, TestWorld.SETTINGS);
		CompletableFuture<Membership> two = world.joining(2, TestWorld.SETTINGS);
		assertThat(one.isDone()).isFalse();
		CompletableFuture<Membership> zero = CompletableFuture
			.supplyAsync(() -> world.joining(0, TestWorld.SETTINGS),
					CompletableFuture.delayedExecutor(300, TimeUnit.MILLISECONDS))
			.thenCompose((joining) -> joining);
		try (world) {
			world.members.put(0, TestWorld.join(zero));
			world.members.put(1, TestWorld.join(one));
			world.members.put(2, TestWorld.join(two));
			assertThat(world.members.get(2).roster()).hasSize(3);
		}
	}

	@Test
	void ranksMeetOverIpv6() {
		TestWorld world = new TestWorld("[::1]", 3);
		world.joinAll(TestWorld.SETTINGS);
		try (world) {
			assertThat(world.members.get(1).roster()).extracting(PeerAddress::host).containsOnly("0:0:0:0:0:0:0:1");
		}
	}

	@Test
	void aHostNameIsARendezvousAddress() {
		TestWorld world = new TestWorld("localhost", 2);
		world.joinAll(TestWorld.SETTINGS);
		try (world) {
			assertThat(world.members).hasSize(2);
		}
	}

	@Test
	void aConfiguredHostIsAdvertisedUnchanged() {
		TestWorld world = new TestWorld(2);
		RendezvousSettings chosen = new RendezvousSettings("job", null, -1, null, "data.example", 7001,
				Duration.ofSeconds(30), Duration.ofMillis(500), "", null);
		world.joinAll(chosen);
		try (world) {
			assertThat(world.members.values())
				.allSatisfy((member) -> assertThat(member.roster()).extracting(PeerAddress::host)
					.containsExactly("data.example", "data.example"));
		}
	}

	@Test
	void rankZeroListensAtTheBindAddress() {
		TestWorld world = new TestWorld(2);
		RendezvousSettings anywhere = new RendezvousSettings("job", null, -1, "0.0.0.0", null, 7000,
				Duration.ofSeconds(30), Duration.ofMillis(500), "", null);
		world.joinAll(anywhere);
		try (world) {
			assertThat(world.members.get(0).roster()).extracting(PeerAddress::host).containsOnly("127.0.0.1");
		}
	}

	@Test
	void ranksWithTheSameTokenJoin() {
		try (TestWorld world = TestWorld.met(3, TestWorld.token("secret"))) {
			assertThat(world.members.get(1).sessionKey().prove(new byte[] { 1 }))
				.isEqualTo(world.members.get(2).sessionKey().prove(new byte[] { 1 }));
		}
	}

	@Test
	void sessionKeysDifferBetweenRendezvous() {
		try (TestWorld one = TestWorld.met(2); TestWorld other = TestWorld.met(2)) {
			assertThat(one.members.get(0).sessionKey().prove(new byte[] { 1 }))
				.isNotEqualTo(other.members.get(0).sessionKey().prove(new byte[] { 1 }));
		}
	}

	@Test
	void aWrongTokenIsRejectedWithoutEffectOnOtherRanks() {
		assertRefusedWhileTheOthersMeet(1, 2, TestWorld.token("secret"), TestWorld.token("guess"),
				Reason.AUTHENTICATION);
	}

	@Test
	void aMissingTokenIsRejected() {
		assertRefusedWhileTheOthersMeet(1, 2, TestWorld.token("secret"), TestWorld.SETTINGS, Reason.AUTHENTICATION);
	}

	@Test
	void aTokenThatRankZeroDoesNotHaveIsRejected() {
		assertRefusedWhileTheOthersMeet(1, 2, TestWorld.SETTINGS, TestWorld.token("secret"), Reason.AUTHENTICATION);
	}

	@Test
	void anotherJobIsRejected() {
		assertRefusedWhileTheOthersMeet(1, 2, TestWorld.job("job"), TestWorld.job("another"), Reason.JOB);
	}

	@Test
	void anotherWorldSizeIsRejected() {
		assertRefusedWhileTheOthersMeet(1, 3, TestWorld.SETTINGS, TestWorld.SETTINGS, Reason.WORLD_SIZE);
	}

	@Test
	void aStaleGenerationIsRejected() {
		assertRefusedWhileTheOthersMeet(1, 2, TestWorld.generation(4), TestWorld.generation(3),
				Reason.STALE_GENERATION);
	}

	private static void assertRefusedWhileTheOthersMeet(int rank, int claimedSize, RendezvousSettings right,
			RendezvousSettings wrong, Reason reason) {
		TestWorld world = new TestWorld(2);
		CompletableFuture<Membership> zero = world.joining(0, right);
		RendezvousException refused = TestWorld.refusal(world.joining(rank, claimedSize, wrong, TestWorld.WAIT_LIMIT));
		assertThat(refused.reason()).isEqualTo(reason);
		assertThat(refused).hasMessageContaining("rank " + rank).hasMessageContaining("127.0.0.1:" + world.port);
		assertThat(refused.getMessage()).doesNotContain("secret").doesNotContain("guess");
		try (world) {
			world.members.put(1, TestWorld.join(world.joining(1, right)));
			world.members.put(0, TestWorld.join(zero));
			assertThat(world.events.get(0).warnings).singleElement().asString().startsWith("refused ");
		}
	}

	@Test
	void aDuplicateRankIsRejectedDuringRendezvous() {
		TestWorld world = new TestWorld(3);
		CompletableFuture<Membership> zero = world.joining(0, TestWorld.SETTINGS);
		CompletableFuture<Membership> one = world.joining(1, TestWorld.SETTINGS);
		CompletableFuture<Membership> other = world.joining(1, TestWorld.SETTINGS);
		CompletableFuture.anyOf(one, other).exceptionally((ex) -> null).join();
		boolean oneIsRefused = one.isCompletedExceptionally();
		assertThat(TestWorld.refusal(oneIsRefused ? one : other).reason()).isEqualTo(Reason.DUPLICATE_RANK);
		try (world) {
			world.members.put(2, TestWorld.join(world.joining(2, TestWorld.SETTINGS)));
			world.members.put(1, TestWorld.join(oneIsRefused ? other : one));
			world.members.put(0, TestWorld.join(zero));
		}
	}

	@Test
	void aDuplicateRankIsRejectedAfterTheGroupHasFormed() {
		try (TestWorld world = TestWorld.met(2)) {
			assertThat(TestWorld.refusal(world.joining(1, TestWorld.SETTINGS)).reason())
				.isEqualTo(Reason.DUPLICATE_RANK);
			assertThat(world.control(1).barrier("still", Duration.ofMillis(50)).result())
				.isEqualTo(BarrierOutcome.Result.BROKEN);
		}
	}

	@Test
	void ranksWithoutAGenerationAcceptRankZerosGeneration() {
		TestWorld world = new TestWorld(2);
		CompletableFuture<Membership> zero = world.joining(0, TestWorld.generation(7));
		CompletableFuture<Membership> one = world.joining(1, TestWorld.SETTINGS);
		try (world) {
			world.members.put(0, TestWorld.join(zero));
			world.members.put(1, TestWorld.join(one));
			assertThat(world.members.get(1).generation()).isEqualTo(7);
		}
	}

	@Test
	void aNewerGenerationWaitsForANewRankZero() {
		TestWorld world = new TestWorld(2);
		CompletableFuture<Membership> stale = world.joining(0, TestWorld.generation(1), Duration.ofMillis(700));
		CompletableFuture<Membership> one = world.joining(1, TestWorld.generation(2));
		RendezvousException alone = TestWorld.refusal(stale);
		assertThat(alone.reason()).isEqualTo(Reason.TIMEOUT);
		try (world) {
			world.members.put(0, TestWorld.join(world.joining(0, TestWorld.generation(2))));
			world.members.put(1, TestWorld.join(one));
			assertThat(world.members.get(1).generation()).isEqualTo(2);
		}
	}

	@Test
	void aProcessThatReplacesARankThatLeftIsNotADuplicate() {
		TestWorld world = TestWorld.met(2);
		world.control(1).close();
		Awaitility.await()
			.until(() -> world.control(0).peers().stream().anyMatch((peer) -> peer.state() == PeerStatus.State.LEFT));
		PassingDeadline refused = new PassingDeadline(PassingDeadline.UNTIL_LOGGED,
				(message) -> message.contains("waiting for it to form again"));
		world.events.set(1, refused);
		RendezvousException late = TestWorld.refusal(world.joining(1, TestWorld.SETTINGS, refused.deadline));
		assertThat(late.reason()).isEqualTo(Reason.TIMEOUT);
		assertThat(late).hasMessageContaining("waiting for it to form again");
		world.close();
	}

	@Test
	void aTimeoutNamesTheMissingRanksOnEveryRank() {
		TestWorld world = new TestWorld(4);
		Deadline deadline = TestWorld.held(Duration.ofMillis(500));
		CompletableFuture<Membership> zero = world.joining(0, TestWorld.SETTINGS, deadline);
		CompletableFuture<Membership> two = world.joining(2, TestWorld.SETTINGS);
		Awaitility.await().until(() -> world.events.get(0).pings.get() > 0);
		TestWorld.start(deadline);
		for (RendezvousException ex : List.of(TestWorld.refusal(zero), TestWorld.refusal(two))) {
			assertThat(ex.reason()).isEqualTo(Reason.TIMEOUT);
			assertThat(ex.missingRanks()).containsExactly(1, 3);
			assertThat(ex).hasMessageContaining("rank 1, rank 3")
				.hasMessageContaining("127.0.0.1:" + world.port)
				.hasMessageContaining("tutti.timeout.rendezvous")
				.hasMessageContaining("ms");
		}
	}

	@Test
	void aRankWithAnEarlierDeadlineAlsoNamesTheMissingRanks() {
		TestWorld world = new TestWorld(3);
		Deadline later = TestWorld.held(Duration.ofMillis(500));
		// Logs for the first time when rank 0 has usually told it who is missing.
		PassingDeadline informed = new PassingDeadline(PassingDeadline.UNTIL_LOGGED.minusSeconds(2),
				(message) -> message.contains("for rank 2"));
		world.events.set(1, informed);
		CompletableFuture<Membership> zero = world.joining(0, TestWorld.SETTINGS, later);
		RendezvousException one = TestWorld.refusal(world.joining(1, TestWorld.SETTINGS, informed.deadline));
		assertThat(one.reason()).isEqualTo(Reason.TIMEOUT);
		assertThat(one.missingRanks()).containsExactly(2);
		Awaitility.await().until(() -> !world.events.get(0).warnings.isEmpty());
		TestWorld.start(later);
		RendezvousException atZero = TestWorld.refusal(zero);
		assertThat(atZero.missingRanks()).containsExactly(1, 2);
		assertThat(atZero).hasMessageContaining("rank 1 (joined, but its connection dropped), rank 2");
	}

	@Test
	void waitingRanksLogTheMissingRanksAndTheDeadlineAtLimitedRate() {
		TestWorld world = new TestWorld(3);
		Deadline deadline = TestWorld.held(Duration.ofSeconds(4));
		CompletableFuture<Membership> zero = world.joining(0, TestWorld.SETTINGS, deadline);
		CompletableFuture<Membership> one = world.joining(1, TestWorld.SETTINGS, Duration.ofSeconds(12));
		Awaitility.await().atMost(TestWorld.WAIT_LIMIT).until(() -> !world.events.get(1).warnings.isEmpty());
		TestWorld.start(deadline);
		TestWorld.refusal(zero);
		TestWorld.refusal(one);
		String waits = "waits at 127.0.0.1:" + world.port + " for rank 2; the deadline is in \\d+ ms"
				+ " \\(tutti.timeout.rendezvous\\)";
		assertThat(world.events.get(0).notes).hasSizeBetween(1, 2).first().asString().matches("rank 0 " + waits);
		assertThat(world.events.get(1).warnings).singleElement().asString().matches("rank 1 " + waits);
		assertThat(world.events.get(1).notes).hasSizeLessThan(2);
	}

	@Test
	void aRankLogsThatItCannotReachRankZeroYet() {
		TestWorld world = new TestWorld(2);
		PassingDeadline unconnected = new PassingDeadline(PassingDeadline.UNTIL_LOGGED,
				(message) -> message.contains("still connects"));
		world.events.set(1, unconnected);
		TestWorld.refusal(world.joining(1, TestWorld.SETTINGS, unconnected.deadline));
		assertThat(world.events.get(1).warnings).singleElement()
			.asString()
			.startsWith("rank 1 still connects to rank 0 at 127.0.0.1:" + world.port + " (Connection refused)");
	}

	@Test
	void anUnreachableRankZeroIsNamedWithTheLastCause() {
		TestWorld world = new TestWorld(2);
		RendezvousException ex = TestWorld.refusal(world.joining(1, TestWorld.SETTINGS, Duration.ofMillis(400)));
		assertThat(ex.reason()).isEqualTo(Reason.TIMEOUT);
		assertThat(ex.missingRanks()).containsExactly(0);
		assertThat(ex).hasMessageContaining("127.0.0.1:" + world.port).hasMessageContaining("refused");
	}

	@Test
	void anUnknownNameIsRetriedUntilTheDeadline() {
		TestWorld world = new TestWorld("no-such-host.invalid", 2);
		RendezvousException guest = TestWorld.refusal(world.joining(1, TestWorld.SETTINGS, Duration.ofMillis(300)));
		assertThat(guest.reason()).isEqualTo(Reason.TIMEOUT);
		assertThat(guest).hasMessageContaining("no-such-host.invalid");
		RendezvousException host = TestWorld.refusal(world.joining(0, TestWorld.SETTINGS, Duration.ofMillis(300)));
		assertThat(host.reason()).as("the name may be known later").isEqualTo(Reason.TIMEOUT);
		assertThat(host).hasMessageContaining("the name is not known").hasMessageContaining("MASTER_ADDR");
	}

	@Test
	void aTakenPortIsReported() throws IOException {
		TestWorld world = new TestWorld(2);
		try (ServerSocket taken = new ServerSocket()) {
			taken.bind(new InetSocketAddress("127.0.0.1", world.port));
			RendezvousException ex = TestWorld.refusal(world.joining(0, TestWorld.SETTINGS));
			assertThat(ex.reason()).isEqualTo(Reason.ADDRESS);
			assertThat(ex).hasMessageContaining("127.0.0.1:" + world.port).hasMessageContaining("MASTER_PORT");
		}
	}

	@Test
	void anAddressOfAnotherHostCannotBeBound() {
		TestWorld world = new TestWorld("192.0.2.1", 2);
		RendezvousException ex = TestWorld.refusal(world.joining(0, TestWorld.SETTINGS));
		assertThat(ex.reason()).isEqualTo(Reason.ADDRESS);
		assertThat(ex).hasMessageContaining("192.0.2.1:" + world.port).hasMessageContaining("bind-address");
	}

	@Test
	void anInterruptEndsTheWaitOnEitherSide() throws InterruptedException {
		for (int rank : new int[] { 0, 1 }) {
			TestWorld world = new TestWorld(2);
			CompletableFuture<Boolean> flagKept = new CompletableFuture<>();
			Thread waiting = Thread.ofPlatform().start(() -> {
				try {
					Rendezvous.join(RankAssignment.onOneHost(rank, 2, world.port), TestWorld.SETTINGS,
							world.events.get(rank), Deadline.after(TestWorld.WAIT_LIMIT));
				}
				catch (RendezvousException ex) {
					flagKept.complete(Thread.currentThread().isInterrupted());
				}
			});
			waiting.interrupt();
			assertThat(TestWorld.join(flagKept)).isTrue();
			waiting.join(Duration.ofSeconds(5));
		}
	}

	@Test
	void settingsOutOfRangeAreRejectedBeforeAnySocketIsOpened() {
		TestWorld world = new TestWorld(2);
		assertThatThrownBy(() -> TestWorld.join(world.joining(0, TestWorld.token(" ")))).hasMessageContaining("token");
		assertThatThrownBy(() -> TestWorld.join(world.joining(0, TestWorld.job("x".repeat(513)))))
			.hasMessageContaining("job id")
			.hasMessageContaining("513");
		assertThatIllegalArgumentException().isThrownBy(() -> Rendezvous.join(RankAssignment.single(),
				TestWorld.generation(-2), world.events.get(0), Deadline.after(TestWorld.WAIT_LIMIT)))
			.withMessageContaining("-2");
	}

}
