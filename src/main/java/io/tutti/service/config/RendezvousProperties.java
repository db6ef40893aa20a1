package io.tutti.service.config;

import io.tutti.engine.backend.EngineSettings;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.StringUtils;

/**
 * Options of the rendezvous. Its address follows from the rank's resolution.
 *
 * @param jobId name of the job, at most 256 characters; ranks of another job are rejected
 * @param bindAddress address at which rank 0 listens; by default the rendezvous address
 * @param portOffset offset of the rendezvous port from {@code MASTER_PORT} if torchrun's
 * agent listens on that port; read when the rank is resolved, 1 by default
 */
@ConfigurationProperties("tutti.rendezvous")
public record RendezvousProperties(@DefaultValue("default") String jobId, @Nullable String bindAddress,
		@Nullable Integer portOffset) {

	public RendezvousProperties {
		EngineSettings.requireName("job id", jobId);
		bindAddress = StringUtils.hasText(bindAddress) ? bindAddress : null;
	}

}
