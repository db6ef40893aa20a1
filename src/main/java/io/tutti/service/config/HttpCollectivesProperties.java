package io.tutti.service.config;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.util.unit.DataSize;

/**
 * Collectives over HTTP.
 *
 * @param enabled whether other processes may call collectives over HTTP
 * @param maxBytes largest request body and largest response body of one call
 * @param memory limit of the memory for request and response bodies of all calls on this
 * rank, including responses kept for repeated rounds; by default the larger of 256 MB and
 * twice {@code max-bytes}
 */
@ConfigurationProperties("tutti.http-collectives")
public record HttpCollectivesProperties(@DefaultValue("true") boolean enabled, @DefaultValue("64MB") DataSize maxBytes,
		@Nullable DataSize memory) {

	/** The most that a buffer of Java has. */
	private static final DataSize MOST = DataSize.ofBytes(Integer.MAX_VALUE);

	/** Two calls of the default maximum size. */
	private static final DataSize USUAL_MEMORY = DataSize.ofMegabytes(256);

	private static final DataSize MOST_MEMORY = DataSize.ofTerabytes(1);

	public HttpCollectivesProperties {
		if (maxBytes.toBytes() < 1 || maxBytes.compareTo(MOST) > 0) {
			throw new IllegalArgumentException("max bytes must be in 1B.." + MOST + ", got " + maxBytes);
		}
		if (memory != null && (memory.compareTo(ofOneCall(maxBytes)) < 0 || memory.compareTo(MOST_MEMORY) > 0)) {
			throw new IllegalArgumentException("memory must hold the body and the answer of one call, "
					+ ofOneCall(maxBytes) + ", and at most " + MOST_MEMORY.toTerabytes() + "TB, got " + memory);
		}
	}

	/** The memory limit for all calls together. */
	public DataSize budget() {
		if (this.memory != null) {
			return this.memory;
		}
		DataSize least = ofOneCall(this.maxBytes);
		return (USUAL_MEMORY.compareTo(least) > 0) ? USUAL_MEMORY : least;
	}

	private static DataSize ofOneCall(DataSize maxBytes) {
		return DataSize.ofBytes(2 * maxBytes.toBytes());
	}

}
