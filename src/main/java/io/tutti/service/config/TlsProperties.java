package io.tutti.service.config;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * Mutual TLS between ranks. TLS for HTTP is configured by Spring's own
 * {@code server.ssl}.
 *
 * @param bundle name of the Spring SSL bundle with this rank's certificate and key and
 * with the authority that it trusts; unset for connections in the clear
 * @param peerName DNS name that every rank's certificate carries
 */
@ConfigurationProperties("tutti.tls")
public record TlsProperties(@Nullable String bundle, @Nullable String peerName) {

	public TlsProperties {
		bundle = given(bundle);
		peerName = given(peerName);
		if (bundle == null && peerName != null) {
			throw new IllegalArgumentException("tutti.tls.peer-name=" + peerName
					+ " is set without tutti.tls.bundle: connections would go in the clear");
		}
		if (bundle != null && peerName == null) {
			throw new IllegalArgumentException("tutti.tls.bundle=" + bundle
					+ " is set without tutti.tls.peer-name, the DNS name that every rank's certificate carries:"
					+ " any certificate of the authority would do");
		}
	}

	/** {@code null} if blank: deployments leave a property unset by an empty variable. */
	private static @Nullable String given(@Nullable String value) {
		return (value != null && !value.isBlank()) ? value.strip() : null;
	}

}
