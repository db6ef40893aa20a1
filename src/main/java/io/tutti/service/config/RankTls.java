package io.tutti.service.config;

import java.time.Instant;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

import io.tutti.BadConfigurationException;
import io.tutti.engine.tls.Tls;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.ssl.NoSuchSslBundleException;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.core.NestedExceptionUtils;

/**
 * Mutual TLS between ranks, configured by a Spring SSL bundle. When Spring reloads the
 * bundle, new connections use it. A reloaded bundle that is unusable is logged, and the
 * previous one stays in use.
 */
public final class RankTls {

	/** Connections are not encrypted. */
	static final RankTls OFF = new RankTls(null, null);

	private static final Logger log = LoggerFactory.getLogger(RankTls.class);

	private final @Nullable Tls tls;

	private final @Nullable AtomicReference<RankCertificate> current;

	private RankTls(@Nullable Tls tls, @Nullable AtomicReference<RankCertificate> current) {
		this.tls = tls;
		this.current = current;
	}

	/**
	 * TLS as configured.
	 * @throws BadConfigurationException if the configuration or the bundle is unusable
	 */
	static RankTls of(TlsProperties properties, ObjectProvider<SslBundles> bundles) {
		String name = properties.bundle();
		String peerName = properties.peerName();
		if (name == null || peerName == null) {
			return OFF;
		}
		try {
			return of(name, peerName, bundles.getObject());
		}
		catch (BadConfigurationException ex) {
			throw ex;
		}
		catch (NoSuchSslBundleException ex) {
			throw new BadConfigurationException("unknown SSL bundle " + name + " (tutti.tls.bundle)",
					ServerFailureAnalyzer.describe(name), ex);
		}
		catch (RuntimeException ex) {
			throw new BadConfigurationException("SSL bundle " + name + " cannot be used: " + innermost(ex),
					"Check what spring.ssl.bundle says of it: files, passwords, names", ex);
		}
	}

	private static RankTls of(String name, String peerName, SslBundles bundles) {
		SslBundle bundle = bundles.getBundle(name);
		AtomicReference<RankCertificate> current = new AtomicReference<>(RankCertificate.of(name, bundle));
		String[] ciphers = bundle.getOptions().getCiphers();
		Tls tls = new Tls(() -> current.get().context(), (ciphers != null) ? List.of(ciphers) : List.of(), peerName);
		current.get().requireName(name, tls);
		log.info("connections between ranks go in TLS 1.3: SSL bundle {} shows {}, good until {}", name,
				current.get().certificate().getSubjectX500Principal(), current.get().validUntil());
		bundles.addBundleUpdateHandler(name, (renewed) -> renew(name, renewed, tls, current));
		return new RankTls(tls, current);
	}

	private static void renew(String name, SslBundle renewed, Tls tls, AtomicReference<RankCertificate> current) {
		try {
			current.set(RankCertificate.of(name, renewed).requireName(name, tls));
			log.info("SSL bundle {} was renewed: new connections between ranks use the certificate that is good"
					+ " until {}", name, current.get().validUntil());
		}
		catch (RuntimeException ex) {
			log.warn("SSL bundle {} was renewed and cannot be used, so the one before it stays, good until {}: {}",
					name, current.get().validUntil(), innermost(ex));
		}
	}

	/** The message of the root cause, which states the problem. */
	static String innermost(Throwable ex) {
		Throwable last = NestedExceptionUtils.getMostSpecificCause(ex);
		return (last instanceof BadConfigurationException known) ? known.getMessage() : last.toString();
	}

	/** The TLS settings, {@code null} if connections are not encrypted. */
	@Nullable Tls tls() {
		return this.tls;
	}

	/** When this rank's certificate expires, {@code null} without TLS. */
	public @Nullable Instant validUntil() {
		return (this.current != null) ? this.current.get().validUntil() : null;
	}

}
