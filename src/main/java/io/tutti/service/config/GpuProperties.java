package io.tutti.service.config;

import io.tutti.BadConfigurationException;
import io.tutti.engine.device.HostFallback;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * Collectives on device memory.
 *
 * @param hostFallback whether collectives on device memory are staged through host memory
 * if the group's backend does not support device memory, each with a warning; by default
 * the value of the variable {@code TUTTI_ENABLE_GPU_FALLBACK}, else false
 */
@ConfigurationProperties(GpuProperties.PREFIX)
public record GpuProperties(@Nullable Boolean hostFallback) {

	/** What the names of these properties begin with. */
	public static final String PREFIX = "tutti.gpu";

	/**
	 * The effective setting: the property, else the environment variable.
	 * @throws BadConfigurationException if the variable is neither true nor false
	 */
	public HostFallback fallback() {
		try {
			return HostFallback.of((name) -> (this.hostFallback != null) ? this.hostFallback.toString() : null,
					System.getenv());
		}
		catch (IllegalArgumentException ex) {
			throw new BadConfigurationException(String.valueOf(ex.getMessage()),
					"Correct the variable, or set " + HostFallback.PROPERTY, ex);
		}
	}

}
