package io.tutti.service.config;

import java.security.GeneralSecurityException;

import io.tutti.BadConfigurationException;
import org.jspecify.annotations.Nullable;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.ssl.NoSuchSslBundleException;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.boot.web.server.ConfigurableWebServerFactory;
import org.springframework.boot.web.server.Ssl;
import org.springframework.boot.web.server.WebServerFactoryCustomizer;
import org.springframework.boot.web.server.WebServerSslBundle;
import org.springframework.boot.web.server.autoconfigure.ServerProperties;

/**
 * Checks the certificate of HTTP before the web server reads it, since the web server's
 * own error messages do not name the setting.
 */
final class HttpCertificate implements WebServerFactoryCustomizer<ConfigurableWebServerFactory> {

	private final ServerProperties server;

	private final ObjectProvider<SslBundles> bundles;

	HttpCertificate(ServerProperties server, ObjectProvider<SslBundles> bundles) {
		this.server = server;
		this.bundles = bundles;
	}

	/**
	 * Checks the certificate.
	 * @throws BadConfigurationException if TLS is enabled for HTTP and cannot be used
	 */
	@Override
	public void customize(ConfigurableWebServerFactory factory) {
		Ssl ssl = this.server.getSsl();
		if (!Ssl.isEnabled(ssl)) {
			return;
		}
		try {
			requireUsable(WebServerSslBundle.get(ssl, this.bundles.getIfAvailable()));
		}
		catch (BadConfigurationException | NoSuchSslBundleException ex) {
			throw ex;
		}
		catch (RuntimeException | GeneralSecurityException ex) {
			throw refused("HTTP cannot use TLS as configured in server.ssl: " + RankTls.innermost(ex), ex);
		}
	}

	private static void requireUsable(SslBundle bundle) throws GeneralSecurityException {
		CertifiedKey shown = CertifiedKey.of(bundle);
		if (shown == null) {
			throw refused("HTTP has no certificate with a private key (server.ssl)", null);
		}
		if (!shown.belongTogether()) {
			throw refused("the private key of HTTP (server.ssl) does not match its certificate "
					+ shown.certificate().getSubjectX500Principal(), null);
		}
		bundle.createSslContext();
	}

	private static BadConfigurationException refused(String problem, @Nullable Exception cause) {
		return new BadConfigurationException(problem,
				"Check the files, passwords and names of certificate and private key that server.ssl gives, or the"
						+ " bundle under spring.ssl.bundle that it names",
				cause);
	}

}
