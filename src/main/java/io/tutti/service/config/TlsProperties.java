package io.tutti.service.config;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.context.properties.ConfigurationProperties;

/**
 * Mutual TLS between ranks. TLS for HTTP is configured by Spring's own
 * {@code server.ssl}.
 *
 * @param bundle name of the Spring SSL bundle with this rank's certificate and key and
 * the trusted authority; no TLS if unset
 * @param peerName DNS name in every rank's certificate
 */
@ConfigurationProperties("tutti.tls")
public record TlsProperties(@Nullable String bundle, @Nullable String peerName) {

	public TlsProperties {
		bundle = given(bundle);
		peerName = given(peerName);
		if (bundle == null && peerName != null) {
			throw new IllegalArgumentException("tutti.tls.peer-name=" + peerName
					+ " is set without tutti.tls.bundle: connections would be unencrypted");
		}
		if (bundle != null && peerName == null) {
			throw new IllegalArgumentException("tutti.tls.bundle=" + bundle
					+ " is set without tutti.tls.peer-name, the DNS name in every rank's certificate:"
					+ " any certificate of the authority would be accepted");
		}
	}

	/** {@code null} if blank: deployments leave a property unset by an empty variable. */
	private static @Nullable String given(@Nullable String value) {
		return (value != null && !value.isBlank()) ? value.strip() : null;
	}

}
