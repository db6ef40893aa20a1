package io.tutti.service.health;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;

import io.tutti.GroupState;
import io.tutti.engine.backend.JoinedGroup;
import io.tutti.engine.control.ControlPlane;
import io.tutti.service.group.GroupLifecycle;
import io.tutti.service.group.GroupSnapshot;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * Up while the control thread of this process responds, whatever the state of the other
 * ranks and however long a collective takes. Belongs to liveness, since only a new
 * process recovers a rank whose control thread is stuck.
 */
final class EngineHealthIndicator extends AbstractHealthIndicator {

	private final GroupLifecycle group;

	/** The heartbeat timeout, after which the other ranks consider this rank lost. */
	private final Duration answerLimit;

	private @Nullable CompletableFuture<Void> echo;

	/** The control plane that was probed last; a group that forms again has a new one. */
	private @Nullable ControlPlane asked;

	private long askedNanos;

	EngineHealthIndicator(GroupLifecycle group, Duration answerLimit) {
		this.group = group;
		this.answerLimit = answerLimit;
	}

	@Override
	protected synchronized void doHealthCheck(Health.Builder builder) {
		GroupSnapshot now = this.group.snapshot();
		JoinedGroup joined = now.joined();
		if (joined == null || now.status().state() == GroupState.CLOSED || moves(joined.control())) {
			builder.up();
			return;
		}
		builder.down()
			.withDetail("problem", "the control thread has not answered for " + this.answerLimit.toMillis() + " ms");
	}

	/**
	 * Keeps one echo outstanding; the first check after its completion sends the next.
	 */
	boolean moves(ControlPlane control) {
		CompletableFuture<Void> latest = this.echo;
		if (latest == null || latest.isDone() || control != this.asked) {
			this.asked = control;
			this.echo = control.echo();
			this.askedNanos = System.nanoTime();
			return true;
		}
		return System.nanoTime() - this.askedNanos < this.answerLimit.toNanos();
	}

}
