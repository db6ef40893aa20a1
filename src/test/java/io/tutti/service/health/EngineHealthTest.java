package io.tutti.service.health;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.tutti.CollectiveListener;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.service.group.FakeGroup;
import io.tutti.service.group.FakeJoiner;
import io.tutti.service.group.GroupLifecycle;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.boot.health.contributor.Status;

import static org.assertj.core.api.Assertions.assertThat;

@Timeout(20)
class EngineHealthTest {

	private final FakeJoiner joiner = new FakeJoiner();

	private final FakeGroup group = new FakeGroup(1, 3, 0);

	private final GroupLifecycle lifecycle = new GroupLifecycle(RankAssignment.onOneHost(1, 3, 29500),
			EngineSettings.DEFAULTS, this.joiner, CollectiveListener.NONE);

	@BeforeEach
	void join() throws Exception {
		this.lifecycle.start();
		this.joiner.joined(this.group);
		this.lifecycle.formed().get(10, TimeUnit.SECONDS);
	}

	@AfterEach
	void leave() {
		this.lifecycle.stop();
	}

	@Test
	void anUnresponsiveControlThreadIsDownUntilItAnswers() {
		EngineHealthIndicator health = new EngineHealthIndicator(this.lifecycle, Duration.ZERO);
		assertThat(health.health().getStatus()).isEqualTo(Status.UP);
		CompletableFuture<Void> stuck = new CompletableFuture<>();
		this.group.onEcho(stuck);
		assertThat(health.health().getStatus()).isEqualTo(Status.UP);
		assertThat(health.health().getStatus()).isEqualTo(Status.DOWN);
		stuck.complete(null);
		assertThat(health.health().getStatus()).isEqualTo(Status.UP);
	}

	@Test
	void anEchoMayTakeAsLongAsTheHeartbeatTimeout() {
		EngineHealthIndicator health = new EngineHealthIndicator(this.lifecycle, Duration.ofMinutes(1));
		this.group.onEcho(new CompletableFuture<>());
		for (int look = 0; look < 3; look++) {
			assertThat(health.health().getStatus()).isEqualTo(Status.UP);
		}
	}

	@Test
	void aNewGroupIsProbedAgain() {
		EngineHealthIndicator health = new EngineHealthIndicator(this.lifecycle, Duration.ZERO);
		this.group.onEcho(new CompletableFuture<>());
		assertThat(health.moves(this.group)).isTrue();
		assertThat(health.moves(this.group)).isFalse();
		assertThat(health.moves(new FakeGroup(1, 3, 1))).isTrue();
	}

	@Test
	void aRankThatHasLeftIsNotProbed() {
		EngineHealthIndicator health = new EngineHealthIndicator(this.lifecycle, Duration.ZERO);
		this.group.onEcho(new CompletableFuture<>());
		health.health();
		this.lifecycle.stop();
		assertThat(health.health().getStatus()).isEqualTo(Status.UP);
	}

}
