package io.tutti.service.page;

import java.util.List;
import java.util.concurrent.TimeUnit;

import io.tutti.CollectiveListener;
import io.tutti.Failure;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.control.PeerStatus;
import io.tutti.service.group.FakeGenerations;
import io.tutti.service.group.FakeGroup;
import io.tutti.service.group.FakeJoiner;
import io.tutti.service.group.GroupLifecycle;
import io.tutti.service.recorder.TrainingWatch;
import io.tutti.training.job.StepTimes;
import io.tutti.training.job.TrainingPlan;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(30)
class PageHistoryTest {

	private final FakeGroup fake = new FakeGroup(1, 3, 4);

	private final TrainingWatch training = new TrainingWatch();

	private final GroupLifecycle group = new GroupLifecycle(RankAssignment.onOneHost(1, 3, 29500),
			EngineSettings.DEFAULTS, FakeJoiner.of(this.fake), CollectiveListener.NONE);

	private final PageHistory history = new PageHistory(this.group, this.training);

	@BeforeEach
	void join() throws Exception {
		this.group.start();
		this.group.formed().get(10, TimeUnit.SECONDS);
		Awaitility.await()
			.atMost(10, TimeUnit.SECONDS)
			.until(() -> this.history.events().getLast().kind().equals("generation"));
	}

	@AfterEach
	void leave() {
		this.group.stop();
	}

	@Test
	void generationsAndLossesAreEventsOnOneTimeline() {
		this.fake.addPeer(new PeerStatus(0, "10.0.0.1", 41000, 12, 250, PeerStatus.State.UP));
		this.history.sample();
		this.fake.addPeer(new PeerStatus(2, "10.0.0.3", 41000, 12, 250, PeerStatus.State.LOST));
		this.history.sample();
		this.history.sample();
		assertThat(this.history.events()).extracting(PageEvent::kind).containsExactly("start", "generation", "lost");
		assertThat(this.history.events().get(1).text()).startsWith("generation 4 formed: 3 ranks, after ");
		assertThat(this.history.events().getLast().text()).isEqualTo("rank 2 lost");
	}

	@Test
	void aLossOfAnElasticGroupIsOneEventWithBothNumbersOfTheRank() {
		FakeGenerations generations = new FakeGenerations(0, 3);
		PageHistory history = new PageHistory(generations.lifecycle(), this.training);
		FakeGroup second = new FakeGroup(0, 2, 1);
		generations.form(second, List.of(0, 2));
		second.addPeer(new PeerStatus(1, "10.0.0.3", 41000, 12, 250, PeerStatus.State.LOST));
		history.sample();
		generations.lose(List.of(2), Failure.outside(Failure.Kind.PEER_LOST, Failure.WORLD, List.of(1), "cut"));
		history.sample();
		assertThat(history.events()).extracting(PageEvent::kind)
			.containsExactly("start", "generation", "broken", "lost");
		assertThat(history.events().getLast().text()).isEqualTo("rank 1 (launched as 2) lost");
	}

	@Test
	void aRankWhoseStateIsUnknownHasNotLeft() {
		this.fake.addPeer(new PeerStatus(2, "10.0.0.3", 41000, 12, 250, PeerStatus.State.UNKNOWN));
		this.history.sample();
		assertThat(this.history.events().getLast().kind()).isEqualTo("generation");
	}

	@Test
	void samplesKeepTheTrainingAndTheSkewOfTheirSecond() {
		this.training.started(new TrainingPlan(1, 3, "tcp", "digits", 1437, 360, 9610, 30, 1350, 100));
		this.history.sample();
		this.training.step(101, 0.25);
		this.training.timed(new StepTimes(32, 1000, 0, 500));
		this.history.skew(70L);
		for (int second = 0; second < 4; second++) {
			this.history.sample();
		}
		List<PageSample> samples = this.history.samples();
		assertThat(samples).extracting(PageSample::loss).startsWith(null, 0.25, 0.25);
		assertThat(samples).extracting(PageSample::skewMicros).containsExactly(null, 70L, 70L, 70L, null);
		assertThat(samples.getLast().exposedShare()).isEqualTo(0.5);
		assertThat(this.history.latest()).isEqualTo(samples.getLast());
		assertThat(this.history.events().getLast().text()).isEqualTo("training digits: from step 100 of 1350");
	}

	@Test
	void aSampleThatFailsIsFollowedByOthers() {
		this.fake.duringPeers(() -> {
			throw new IllegalStateException("made to fail");
		});
		this.fake.addPeer(new PeerStatus(2, "10.0.0.3", 41000, 12, 250, PeerStatus.State.LOST));
		this.history.start();
		try {
			Awaitility.await().atMost(10, TimeUnit.SECONDS).until(() -> !this.history.samples().isEmpty());
			this.fake.duringPeers(() -> {
			});
			Awaitility.await()
				.atMost(10, TimeUnit.SECONDS)
				.until(() -> this.history.events().getLast().text().equals("rank 2 lost"));
		}
		finally {
			this.history.stop();
		}
	}

	@Test
	void onlyTheLastTenMinutesAndTheSamplerOfARunningRankAreKept() {
		for (int second = 0; second < 700; second++) {
			this.history.sample();
		}
		assertThat(this.history.samples()).hasSize(600);
		this.history.start();
		assertThat(this.history.isRunning()).isTrue();
		this.history.stop();
		assertThat(this.history.isRunning()).isFalse();
	}

}
