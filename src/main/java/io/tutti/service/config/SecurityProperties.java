package io.tutti.service.config;

import java.nio.file.Path;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * Access control for joining ranks and for HTTP requests that change state. The token is
 * redacted.
 *
 * @param token shared secret of the job, for the meeting of ranks and for HTTP requests
 * that change something
 * @param tokenFile file that holds the token instead; white space around it is ignored
 * @param anonymous whether to listen beyond loopback without a token
 */
@ConfigurationProperties("tutti.security")
public record SecurityProperties(@Nullable String token, @Nullable Path tokenFile, boolean anonymous) {

	public SecurityProperties {
		if (token != null && tokenFile != null) {
			throw new IllegalArgumentException(
					"tutti.security.token and tutti.security.token-file are both set; only one of them can be followed");
		}
	}

	@Override
	public String toString() {
		return "SecurityProperties[token=" + ((this.token != null) ? "hidden" : "none") + ", tokenFile="
				+ this.tokenFile + ", anonymous=" + this.anonymous + "]";
	}

}
