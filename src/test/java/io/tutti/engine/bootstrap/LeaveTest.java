package io.tutti.engine.bootstrap;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.tutti.engine.RankAssignment;
import io.tutti.engine.control.ControlMessage.Leave;
import io.tutti.engine.control.ControlMessage.Ping;
import io.tutti.engine.control.ControlMessage.RankZeroLeft;
import io.tutti.engine.control.Membership;
import io.tutti.engine.control.RecordedControlEvents;
import io.tutti.engine.control.RendezvousException;
import io.tutti.engine.spi.Deadline;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/** Ranks that leave or are lost before all ranks have joined. */
@Order(5)
@Timeout(60)
class LeaveTest {

	private final TestWorld world = new TestWorld(4);

	@Test
	void aRankThatLeavesDuringRendezvousIsReportedAndMayJoinAgain() {
		CompletableFuture<Membership> zero = this.world.joining(0, TestWorld.SETTINGS);
		CompletableFuture<Membership> one = this.world.joining(1, TestWorld.SETTINGS);
		RawRank two = new RawRank(this.world.port).join(2, 4);
		two.send(Leave.inOrder());
		Awaitility.await().untilAsserted(() -> {
			assertThat(this.world.events.get(0).withdrawn).containsExactly(2);
			assertThat(this.world.events.get(1).withdrawn).containsExactly(2);
		});
		assertThat(two.isHungUpOn()).isTrue();
		two.close();
		try (this.world) {
			CompletableFuture<Membership> three = this.world.joining(3, TestWorld.SETTINGS);
			this.world.members.put(2, TestWorld.join(this.world.joining(2, TestWorld.SETTINGS)));
			this.world.members.put(3, TestWorld.join(three));
			this.world.members.put(1, TestWorld.join(one));
			this.world.members.put(0, TestWorld.join(zero));
			assertThat(this.world.events.get(0).withdrawn).containsExactly(2);
		}
	}

	@Test
	void aRankLostDuringRendezvousCausesAWarningAtOnceAndCountsAsDropped() {
		Deadline deadline = TestWorld.held(Duration.ofMillis(500));
		CompletableFuture<Membership> zero = this.world.joining(0, TestWorld.SETTINGS, deadline);
		new RawRank(this.world.port).join(2, 4).crash();
		Awaitility.await()
			.untilAsserted(() -> assertThat(this.world.events.get(0).warnings).singleElement()
				.asString()
				.contains("rank 2 was lost during rendezvous"));
		TestWorld.start(deadline);
		assertThat(TestWorld.refusal(zero)).hasMessageContaining("rank 2 (joined, but its connection dropped)");
		assertThat(this.world.events.get(0).withdrawn).isEmpty();
	}

	@Test
	void aRankThatGivesUpIsDroppedAtOnceWithItsReason() {
		Deadline deadline = TestWorld.held(Duration.ofMillis(500));
		CompletableFuture<Membership> zero = this.world.joining(0, TestWorld.SETTINGS, deadline);
		try (RawRank two = new RawRank(this.world.port).join(2, 4);
				RawRank three = new RawRank(this.world.port).join(3, 4)) {
			two.send(new Leave("its deadline has passed", false));
			three.send(new Leave("silent for 30 s", true));
			Awaitility.await()
				.untilAsserted(() -> assertThat(this.world.events.get(0).warnings).containsExactlyInAnyOrder(
						"rank 2 was lost during rendezvous: it gave up: its deadline has passed",
						"rank 3 was lost during rendezvous: it considers rank 0 lost: silent for 30 s"));
			TestWorld.start(deadline);
			assertThat(TestWorld.refusal(zero)).hasMessageContaining("rank 2 (joined, but its connection dropped)");
		}
	}

	@Test
	void aRankThatLeftIsNamedWhenTheDeadlinePasses() {
		Deadline deadline = TestWorld.held(Duration.ofMillis(500));
		CompletableFuture<Membership> zero = this.world.joining(0, TestWorld.SETTINGS, deadline);
		RawRank two = new RawRank(this.world.port).join(2, 4);
		two.send(Leave.inOrder());
		Awaitility.await().until(() -> this.world.events.get(0).withdrawn.contains(2));
		TestWorld.start(deadline);
		assertThat(TestWorld.refusal(zero)).hasMessageContaining("rank 1, rank 2 (joined, but has left), rank 3");
		two.close();
	}

	@Test
	void anInterruptedRankLeavesInOrderAndATimedOutRankSendsTheReason() throws Exception {
		// One listener: a process that another test starts may still hold the port of one
		// that was closed.
		try (ServerSocket listener = listener()) {
			assertThat(goodbyeOf(true, listener)).isEqualTo(Leave.inOrder());
			assertThat(goodbyeOf(false, listener)).isEqualTo(new Leave("its deadline has passed", false));
		}
	}

	@Test
	void waitingRanksAreInformedThatRankZeroLeaves() throws IOException {
		try (ServerSocket listener = listener()) {
			Deadline deadline = TestWorld.held(Duration.ofMillis(500));
			this.world.events.set(1, new RecordedControlEvents() {
				@Override
				public void withdrew(int rank) {
					super.withdrew(rank);
					TestWorld.start(deadline);
				}
			});
			CompletableFuture<Membership> one = this.world.joining(1, TestWorld.SETTINGS, deadline);
			RawRank welcomed = RawRankZero.welcome(listener.accept());
			welcomed.send(new RankZeroLeft(null));
			Awaitility.await().until(() -> this.world.events.get(1).withdrawn.contains(0));
			welcomed.close();
			RendezvousException late = TestWorld.refusal(one);
			assertThat(late.reason()).isEqualTo(RendezvousException.Reason.TIMEOUT);
			assertThat(late).hasMessageContaining("rank 0 left during rendezvous");
		}
	}

	private Leave goodbyeOf(boolean interrupted, ServerSocket listener) throws Exception {
		CompletableFuture<Boolean> pinged = new CompletableFuture<>();
		PassingDeadline events = new PassingDeadline(interrupted ? Duration.ZERO : PassingDeadline.UNTIL_LOGGED,
				(message) -> !interrupted && message.contains("waits at") && TestWorld.join(pinged));
		Thread waiting = Thread.ofPlatform().start(() -> joinInVain(events));
		RawRank welcomed = RawRankZero.welcome(listener.accept());
		welcomed.await(Ping.class);
		if (interrupted) {
			waiting.interrupt();
		}
		pinged.complete(true);
		Leave goodbye = welcomed.await(Leave.class);
		welcomed.close();
		waiting.join(Duration.ofSeconds(10));
		return goodbye;
	}

	private void joinInVain(PassingDeadline events) {
		try {
			Rendezvous.join(RankAssignment.onOneHost(1, 2, this.world.port), TestWorld.SETTINGS, events,
					events.deadline);
		}
		catch (RendezvousException ex) {
			Thread.currentThread().interrupt();
		}
	}

	private ServerSocket listener() throws IOException {
		return new ServerSocket(this.world.port, 10, InetAddress.getLoopbackAddress());
	}

}
