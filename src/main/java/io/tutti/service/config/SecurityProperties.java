package io.tutti.service.config;

import java.nio.file.Path;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * Access control for joining ranks and for HTTP requests that change state. The token is
 * redacted.
 *
 * @param token shared secret of the job, for rendezvous and for HTTP requests that change
 * state
 * @param tokenFile file with the token; surrounding white space is ignored
 * @param anonymous whether no token is needed to listen beyond loopback
 */
@ConfigurationProperties("tutti.security")
public record SecurityProperties(@Nullable String token, @Nullable Path tokenFile, boolean anonymous) {

	@Override
	public String toString() {
		return "SecurityProperties[token=" + ((this.token != null) ? "hidden" : "none") + ", tokenFile="
				+ this.tokenFile + ", anonymous=" + this.anonymous + "]";
	}

}
