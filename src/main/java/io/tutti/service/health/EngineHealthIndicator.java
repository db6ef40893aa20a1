package io.tutti.service.health;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.tutti.GroupState;
import io.tutti.engine.Timeouts;
import io.tutti.engine.control.ControlPlane;
import io.tutti.service.group.GroupLifecycle;
import io.tutti.service.group.JoinedGroup;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.stereotype.Component;

/**
 * Up while this process's own engine moves: its control thread answers, whatever has
 * become of the other ranks and however long a collective takes. Belongs to liveness,
 * since nothing but a new process helps a rank whose control thread is stuck.
 */
@Component("engine")
final class EngineHealthIndicator extends AbstractHealthIndicator {

	private final GroupLifecycle group;

	/** As long as the others would go on believing in this rank. */
	private final Duration patience;

	private @Nullable CompletableFuture<Void> echo;

	/** Who was asked: a group that forms anew has another one. */
	private @Nullable ControlPlane asked;

	private long askedNanos;

	@Autowired
	EngineHealthIndicator(GroupLifecycle group, Timeouts timeouts) {
		this(group, timeouts.heartbeat());
	}

	EngineHealthIndicator(GroupLifecycle group, Duration patience) {
		this.group = group;
		this.patience = patience;
	}

	@Override
	protected synchronized void doHealthCheck(Health.Builder builder) {
		JoinedGroup joined = this.group.joined();
		if (joined == null || this.group.status().state() == GroupState.CLOSED || moves(joined.control())) {
			builder.up();
			return;
		}
		builder.down()
			.withDetail("problem", "the control thread has not answered for " + this.patience.toMillis() + " ms");
	}

	/** One question at a time, which each look asks again once it was answered. */
	boolean moves(ControlPlane control) {
		CompletableFuture<Void> latest = this.echo;
		if (latest == null || latest.isDone() || control != this.asked) {
			this.asked = control;
			this.echo = control.echo();
			this.askedNanos = System.nanoTime();
			return true;
		}
		return System.nanoTime() - this.askedNanos < this.patience.toNanos();
	}

}
