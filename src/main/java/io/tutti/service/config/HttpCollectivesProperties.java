package io.tutti.service.config;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * Collectives over HTTP.
 *
 * @param enabled whether any process beside this rank may call them
 * @param maxBytes the largest body, and the largest answer, of one call
 */
@ConfigurationProperties(prefix = "tutti.http-collectives", ignoreUnknownFields = false)
public record HttpCollectivesProperties(@DefaultValue("true") boolean enabled,
		@DefaultValue("64MB") DataSize maxBytes) {

	/** Both lie in memory, at every rank, while a call runs. */
	private static final DataSize MOST = DataSize.ofGigabytes(2);

	public HttpCollectivesProperties {
		if (maxBytes.toBytes() < 1 || maxBytes.compareTo(MOST) > 0) {
			throw new IllegalArgumentException(
					"max bytes must be in 1B.." + MOST.toGigabytes() + "GB, got " + maxBytes);
		}
	}

}
