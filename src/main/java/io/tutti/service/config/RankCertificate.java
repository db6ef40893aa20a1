package io.tutti.service.config;

import java.security.GeneralSecurityException;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Date;
import java.util.List;

import javax.net.ssl.SSLContext;

import io.tutti.BadConfigurationException;
import io.tutti.engine.FailureReason;
import io.tutti.engine.tls.Tls;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslStoreBundle;

/**
 * The current content of a rank's SSL bundle: its certificate and its trust store. It is
 * checked in detail, since its defects would otherwise appear only as handshake failures
 * on each other rank.
 *
 * @param context the SSL context created from the bundle
 * @param certificate the certificate that the rank presents
 */
record RankCertificate(SSLContext context, X509Certificate certificate) {

	private static final String PROTOCOL = "TLSv1.3";

	private static final String FOR_SERVERS = "1.3.6.1.5.5.7.3.1";

	private static final String FOR_CLIENTS = "1.3.6.1.5.5.7.3.2";

	private static final String FOR_ANYTHING = "2.5.29.37.0";

	/**
	 * Reads a bundle.
	 * @throws BadConfigurationException if ranks cannot connect with it
	 */
	static RankCertificate of(String name, SslBundle bundle) {
		requireProtocol(name, bundle);
		X509Certificate certificate = certificate(name, bundle);
		requireTrust(name, bundle.getStores());
		RankCertificate found = new RankCertificate(bundle.createSslContext(), certificate);
		found.requireUse(name);
		return found;
	}

	/** When the certificate expires. */
	Instant validUntil() {
		return this.certificate.getNotAfter().toInstant();
	}

	/**
	 * Checks that the certificate carries the configured peer name.
	 * @throws BadConfigurationException if it does not
	 */
	RankCertificate requireName(String name, Tls tls) {
		if (!tls.isNamedBy(this.certificate)) {
			throw new BadConfigurationException(
					subject(name) + " does not contain the DNS name tutti.tls.peer-name=" + tls.peerName(),
					"Issue it with that name among its subject alternative names, or set tutti.tls.peer-name to"
							+ " a name in every rank's certificate");
		}
		return this;
	}

	private void requireUse(String name) {
		Date now = new Date();
		if (now.after(this.certificate.getNotAfter()) || now.before(this.certificate.getNotBefore())) {
			throw new BadConfigurationException(subject(name) + " is valid from "
					+ this.certificate.getNotBefore().toInstant() + " to " + validUntil() + " only",
					"Renew it, or correct this host's clock");
		}
		if (!isFor(FOR_SERVERS) || !isFor(FOR_CLIENTS)) {
			throw new BadConfigurationException(subject(name) + " is not for both servers and clients",
					"A rank is both client and server: issue it with the extended key usages serverAuth and"
							+ " clientAuth, or with none");
		}
	}

	private boolean isFor(String purpose) {
		try {
			List<String> purposes = this.certificate.getExtendedKeyUsage();
			return purposes == null || purposes.contains(purpose) || purposes.contains(FOR_ANYTHING);
		}
		catch (CertificateParsingException ex) {
			return false;
		}
	}

	private String subject(String name) {
		return "the certificate " + this.certificate.getSubjectX500Principal() + " of SSL bundle " + name;
	}

	private static void requireProtocol(String name, SslBundle bundle) {
		String[] enabled = bundle.getOptions().getEnabledProtocols();
		if (enabled != null && !List.of(enabled).contains(PROTOCOL)) {
			throw new BadConfigurationException(
					"SSL bundle " + name + " allows only " + String.join(", ", enabled) + ", and ranks speak "
							+ PROTOCOL,
					"Add " + PROTOCOL + " to the bundle's options.enabled-protocols, or leave them out");
		}
	}

	private static void requireTrust(String name, SslStoreBundle stores) {
		if (stores.getTrustStore() == null) {
			throw new BadConfigurationException(
					"SSL bundle " + name
							+ " has no trust store: certificates of any public authority would be accepted",
					"Give the bundle the certificate of the job's own authority (truststore.certificate)");
		}
	}

	private static X509Certificate certificate(String name, SslBundle bundle) {
		CertifiedKey shown = read(name, bundle);
		if (shown == null) {
			throw new BadConfigurationException("SSL bundle " + name + " contains no certificate with a private key",
					"Give the bundle both (keystore.certificate and keystore.private-key)");
		}
		if (!shown.belongTogether()) {
			throw new BadConfigurationException(
					"the private key of SSL bundle " + name + " does not match its certificate "
							+ shown.certificate().getSubjectX500Principal(),
					"Give the bundle the key that the certificate was issued for");
		}
		return shown.certificate();
	}

	private static @Nullable CertifiedKey read(String name, SslBundle bundle) {
		try {
			return CertifiedKey.of(bundle);
		}
		catch (GeneralSecurityException ex) {
			throw new BadConfigurationException(
					"the key store of SSL bundle " + name + " cannot be read: " + FailureReason.of(ex),
					"Check the bundle's files and passwords", ex);
		}
	}

}
