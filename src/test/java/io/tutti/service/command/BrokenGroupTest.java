package io.tutti.service.command;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.tutti.CollectiveListener;
import io.tutti.Failure;
import io.tutti.GroupAbortedException;
import io.tutti.PeerLostException;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.control.RendezvousException;
import io.tutti.service.group.FakeGroup;
import io.tutti.service.group.FakeJoiner;
import io.tutti.service.group.GroupLifecycle;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * The end of a serving rank whose group fails.
 */
@Timeout(20)
class BrokenGroupTest {

	private static final Failure RANK_1_LOST = Failure.outside(Failure.Kind.PEER_LOST, Failure.WORLD, List.of(1),
			"its connection closed");

	private final FakeJoiner joiner = new FakeJoiner();

	private final GroupLifecycle group = new GroupLifecycle(RankAssignment.onOneHost(0, 2, 29500),
			EngineSettings.DEFAULTS, this.joiner, CollectiveListener.NONE);

	@AfterEach
	void leave() {
		this.group.stop();
	}

	@Test
	void aGroupThatNeverFormsEndsTheRankWithTheReason() {
		CompletableFuture<Void> end = new BrokenGroup(this.group, null).end();
		this.group.start();
		RendezvousException late = new RendezvousException(RankAssignment.onOneHost(1, 3, 29500),
				RendezvousException.Reason.TIMEOUT, "late", List.of(1), null);
		this.joiner.failed(late);
		assertThatExceptionOfType(RendezvousException.class).isThrownBy(() -> Await.first(end)).isSameAs(late);
	}

	@Test
	void aBrokenGroupLingersAndThenEndsTheRankWithTheFailure() {
		CompletableFuture<Void> end = new BrokenGroup(this.group, Duration.ofMillis(20)).end();
		breakGroup();
		assertThatExceptionOfType(PeerLostException.class).isThrownBy(() -> Await.first(end))
			.withMessageContaining("rank 1 lost");
	}

	@Test
	void withoutALimitABrokenGroupWaitsForAStopRequest() throws Exception {
		StopRequest stop = new StopRequest(Map.of());
		CompletableFuture<Void> end = new BrokenGroup(this.group, null).end();
		breakGroup();
		this.group.broken().get(10, TimeUnit.SECONDS);
		assertThat(end).isNotDone();
		stop.ask("SIGTERM");
		assertThat(Await.first(stop.reason(), end)).isEqualTo("SIGTERM");
	}

	@Test
	void anAbortedGroupEndsTheRankAtOnceWithTheReason() {
		CompletableFuture<Void> end = new BrokenGroup(this.group, null).end();
		breakGroup(Failure.outside(Failure.Kind.ABORTED, Failure.WORLD, List.of(1), "the data set was wrong"));
		assertThatExceptionOfType(GroupAbortedException.class).isThrownBy(() -> Await.first(end))
			.withMessageContaining("the data set was wrong");
	}

	@Test
	void aGroupThatRanksHaveLeftLingersAndThenEndsTheRank() {
		FakeGroup formed = new FakeGroup(0, 3, 0);
		this.joiner.joined(formed);
		this.group.start();
		this.group.formed().join();
		CompletableFuture<Void> end = new BrokenGroup(this.group, Duration.ofMillis(20)).end();
		formed.depart(2);
		formed.depart(1);
		assertThatExceptionOfType(PeerLostException.class).isThrownBy(() -> Await.first(end))
			.withMessageContaining("ranks 1, 2 lost: it has left the group");
	}

	private void breakGroup() {
		breakGroup(RANK_1_LOST);
	}

	private void breakGroup(Failure failure) {
		this.joiner.joined(new FakeGroup(0, 2, 0));
		this.group.start();
		this.group.formed().join();
		this.joiner.broken(failure);
	}

}
