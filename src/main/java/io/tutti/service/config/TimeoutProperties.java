package io.tutti.service.config;

import java.time.Duration;
import java.util.Objects;

import io.tutti.engine.Timeouts;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * Timeouts of a rank.
 *
 * @param rendezvous limit of rendezvous, 5 min by default
 * @param collective limit of one collective call, 10 min by default
 * @param heartbeat silence after which a rank counts as lost, 30 s by default
 * @param abort how long a rank that detected a failure waits for rank 0's verdict, 5 s by
 * default or {@code heartbeat} if that is shorter
 * @param drain limit from a stop request until the group has ended, 30 s by default
 */
@ConfigurationProperties("tutti.timeout")
public record TimeoutProperties(@Nullable Duration rendezvous, @Nullable Duration collective,
		@Nullable Duration heartbeat, @Nullable Duration abort, @Nullable Duration drain) {

	public TimeoutProperties {
		timeouts(rendezvous, collective, heartbeat, abort, drain);
	}

	/** The timeouts for the engine, checked against each other. */
	Timeouts timeouts() {
		return timeouts(this.rendezvous, this.collective, this.heartbeat, this.abort, this.drain);
	}

	private static Timeouts timeouts(@Nullable Duration rendezvous, @Nullable Duration collective,
			@Nullable Duration heartbeat, @Nullable Duration abort, @Nullable Duration drain) {
		Duration silence = Objects.requireNonNullElse(heartbeat, Timeouts.DEFAULTS.heartbeat());
		return new Timeouts(Objects.requireNonNullElse(rendezvous, Timeouts.DEFAULTS.rendezvous()),
				Objects.requireNonNullElse(collective, Timeouts.DEFAULTS.collective()), silence,
				Objects.requireNonNullElse(abort, Timeouts.defaultAbort(silence)),
				Objects.requireNonNullElse(drain, Timeouts.DEFAULTS.drain()));
	}

}
