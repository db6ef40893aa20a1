package io.tutti.service.config;

import java.time.Duration;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * Options of {@code serve}.
 *
 * @param linger how long a rank answers requests after its group broke; by default
 * without limit, and not at all if the group is elastic and may not continue
 */
@ConfigurationProperties("tutti.serve")
public record ServeProperties(@Nullable Duration linger) {

	public ServeProperties {
		if (linger != null && linger.isNegative()) {
			throw new IllegalArgumentException("linger must not be negative, got " + linger);
		}
	}

}
