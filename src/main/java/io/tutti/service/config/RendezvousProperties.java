package io.tutti.service.config;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * How ranks meet. Where they meet, and the port offset under torchrun, belong to the
 * resolution of the rank.
 *
 * @param jobId name of the job; ranks of another job are refused
 * @param bindAddress where rank 0 listens, by default the meeting point's own address
 */
@ConfigurationProperties("tutti.rendezvous")
public record RendezvousProperties(@DefaultValue("default") String jobId, @Nullable String bindAddress) {

	public RendezvousProperties {
		if (jobId.isBlank()) {
			throw new IllegalArgumentException("job id must not be blank");
		}
	}

}
