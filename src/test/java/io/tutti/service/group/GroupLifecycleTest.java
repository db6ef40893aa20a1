package io.tutti.service.group;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

import io.tutti.CollectiveListener;
import io.tutti.CollectiveException;
import io.tutti.Failure;
import io.tutti.GroupState;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.bootstrap.Endpoint;
import io.tutti.engine.control.PeerStatus;
import io.tutti.engine.control.RendezvousException;
import io.tutti.engine.elastic.ElasticSettings;
import io.tutti.engine.elastic.ElasticSettings.QuorumRule;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.boot.web.server.context.WebServerApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@Timeout(20)
class GroupLifecycleTest {

	private static final Failure RANK_2_LOST = Failure.outside(Failure.Kind.PEER_LOST, Failure.WORLD, List.of(2),
			"its connection closed");

	private final FakeJoiner joiner = new FakeJoiner();

	private final FakeGroup group = new FakeGroup(1, 3, 4);

	private final GroupLifecycle lifecycle = new GroupLifecycle(RankAssignment.onOneHost(1, 3, 29500),
			EngineSettings.DEFAULTS, this.joiner, CollectiveListener.NONE);

	@Test
	void joiningRunsOnAThreadThatNamesTheRank() throws Exception {
		this.lifecycle.start();
		Thread thread = this.joiner.waiting().get(10, TimeUnit.SECONDS);
		assertThat(thread.getName()).isEqualTo("tutti-r1-rendezvous");
		assertThat(thread.isDaemon()).isTrue();
		assertThat(this.lifecycle.status().state()).isEqualTo(GroupState.FORMING);
		this.lifecycle.stop();
	}

	@Test
	void aGroupIsReadyOnceItHasFormed() throws Exception {
		this.lifecycle.start();
		assertThatExceptionOfType(GroupUnavailableException.class).isThrownBy(this.lifecycle::ready)
			.satisfies((ex) -> assertThat(ex.status().state()).isEqualTo(GroupState.FORMING));
		form();
		assertThat(this.lifecycle.status().state()).isEqualTo(GroupState.READY);
		assertThat(this.lifecycle.ready()).isSameAs(this.group);
	}

	@Test
	void ranksThatHaveLeftAreAProblemOfAGroupThatIsReady() throws Exception {
		this.lifecycle.start();
		form();
		assertThat(this.lifecycle.status().problem()).isNull();
		this.group.addPeer(new PeerStatus(0, "10.0.0.1", 41000, 12, 250, PeerStatus.State.LEFT));
		this.group.addPeer(new PeerStatus(2, "10.0.0.1", 41000, 12, 250, PeerStatus.State.LEFT));
		assertThat(this.lifecycle.status().state()).isEqualTo(GroupState.READY);
		assertThat(this.lifecycle.status().problem())
			.isEqualTo("ranks 0, 2 have left; no collective can run without them");
	}

	@Test
	void aBrokenGroupReportsItsFailureAndCanStillBeInspected() throws Exception {
		this.lifecycle.start();
		form();
		this.joiner.broken(RANK_2_LOST);
		assertThat(this.lifecycle.broken().get(10, TimeUnit.SECONDS)).isEqualTo(RANK_2_LOST);
		assertThat(this.lifecycle.status().state()).isEqualTo(GroupState.BROKEN);
		assertThat(this.lifecycle.status().problem()).contains("rank 2 lost");
		assertThat(this.lifecycle.joined()).isSameAs(this.group);
		assertThatExceptionOfType(GroupUnavailableException.class).isThrownBy(this.lifecycle::ready);
	}

	@Test
	void theFailureOfAnotherGroupDoesNotBreakThisOne() throws Exception {
		this.lifecycle.start();
		form();
		this.joiner.broken(Failure.outside(Failure.Kind.TIMEOUT, "half", List.of(2), "late"));
		assertThat(this.lifecycle.status().state()).isEqualTo(GroupState.READY);
		this.joiner.broken(RANK_2_LOST);
		assertThat(this.lifecycle.broken().get(10, TimeUnit.SECONDS)).isEqualTo(RANK_2_LOST);
	}

	@Test
	void aListenerThatThrowsDoesNotHideTheFailure() throws Exception {
		CompletableFuture<Failure> next = new CompletableFuture<>();
		GroupLifecycle listened = new GroupLifecycle(RankAssignment.onOneHost(1, 3, 29500), EngineSettings.DEFAULTS,
				this.joiner, new GroupListeners(List.of(onBroken((_) -> {
					throw new NoClassDefFoundError("made to fail");
				}), onBroken(next::complete))));
		listened.start();
		this.joiner.joined(this.group);
		listened.formed().get(10, TimeUnit.SECONDS);
		this.joiner.broken(RANK_2_LOST);
		assertThat(listened.broken().get(10, TimeUnit.SECONDS)).isEqualTo(RANK_2_LOST);
		assertThat(next).isCompletedWithValue(RANK_2_LOST);
	}

	private static CollectiveListener onBroken(Consumer<Failure> action) {
		return new CollectiveListener() {
			@Override
			public void broken(Failure failure) {
				action.accept(failure);
			}
		};
	}

	@Test
	void anElasticGroupFormsAgainOnlyAfterAFailureOfAllRanks() {
		GroupLifecycle elastic = elastic();
		assertThat(elastic.formsAgainAfter(RANK_2_LOST)).isTrue();
		assertThat(elastic.formsAgainAfter(Failure.outside(Failure.Kind.PEER_LOST, "half", List.of(2), "lost")))
			.isTrue();
		assertThat(elastic.formsAgainAfter(Failure.outside(Failure.Kind.TIMEOUT, Failure.WORLD, List.of(2), "late")))
			.isTrue();
		assertThat(elastic.formsAgainAfter(Failure.outside(Failure.Kind.TIMEOUT, "http", List.of(2), "late")))
			.isFalse();
	}

	@Test
	void aCallOfAnElasticGroupFailsByADepartureWithoutALoss() {
		GroupLifecycle elastic = elastic();
		CollectiveException left = CollectiveException.of(1, 3,
				Failure.outside(Failure.Kind.PEER_LOST, Failure.WORLD, List.of(0), "it has left the group"), null);
		assertThat(elastic.statusOf(this.group, left)).isEqualTo(GroupStatus.of(GroupState.FORMING));
		this.group.fail(RANK_2_LOST);
		CollectiveException lost = CollectiveException.of(1, 3, RANK_2_LOST, null);
		assertThat(elastic.statusOf(this.group, lost)).isEqualTo(GroupStatus.broken(RANK_2_LOST));
	}

	private GroupLifecycle elastic() {
		return new GroupLifecycle(RankAssignment.onOneHost(1, 3, 29500), EngineSettings.DEFAULTS, this.joiner,
				CollectiveListener.NONE, new ElasticSettings(1, Duration.ZERO, 0, QuorumRule.LIVE,
						List.of(new Endpoint("a", 1), new Endpoint("b", 1), new Endpoint("c", 1))));
	}

	@Test
	void aFailedRendezvousIsReportedToWaitingCallers() {
		this.lifecycle.start();
		RendezvousException refused = new RendezvousException(RankAssignment.onOneHost(1, 3, 29500),
				RendezvousException.Reason.AUTHENTICATION, "wrong token", List.of(), null);
		this.joiner.failed(refused);
		assertThat(this.lifecycle.formed()).failsWithin(Duration.ofSeconds(10)).withThrowableThat().withCause(refused);
		assertThat(this.lifecycle.status().state()).isEqualTo(GroupState.BROKEN);
		assertThat(this.lifecycle.status().problem()).contains("wrong token");
	}

	@Test
	void anErrorOfTheJvmDuringRendezvousIsReportedToo() {
		this.lifecycle.start();
		OutOfMemoryError full = new OutOfMemoryError("made to fail");
		this.joiner.failed(full);
		assertThat(this.lifecycle.formed()).failsWithin(Duration.ofSeconds(10)).withThrowableThat().withCause(full);
		assertThat(this.lifecycle.status().state()).isEqualTo(GroupState.BROKEN);
	}

	@Test
	void stoppingLeavesTheGroupOnce() throws Exception {
		this.lifecycle.start();
		form();
		this.lifecycle.stop();
		this.lifecycle.stop();
		assertThat(this.group.closings()).isEqualTo(1);
		assertThat(this.lifecycle.status().state()).isEqualTo(GroupState.CLOSED);
		assertThat(this.lifecycle.isRunning()).isFalse();
	}

	@Test
	void stoppingDuringRendezvousEndsIt() throws Exception {
		this.lifecycle.start();
		Thread thread = this.joiner.waiting().get(10, TimeUnit.SECONDS);
		this.lifecycle.stop();
		thread.join(10_000);
		assertThat(thread.isAlive()).isFalse();
		assertThat(this.lifecycle.status().state()).isEqualTo(GroupState.CLOSED);
	}

	@Test
	void requestsAreRefusedBeforeTheGroupIsLeftAndThePortIsClosedAfterIt() {
		assertThat(this.lifecycle.getPhase()).isLessThan(WebServerApplicationContext.GRACEFUL_SHUTDOWN_PHASE)
			.isGreaterThan(WebServerApplicationContext.START_STOP_LIFECYCLE_PHASE);
	}

	private void form() throws Exception {
		this.joiner.joined(this.group);
		this.lifecycle.formed().get(10, TimeUnit.SECONDS);
	}

}
