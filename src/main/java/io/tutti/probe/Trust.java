package io.tutti.probe;

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.List;

import javax.net.ssl.HostnameVerifier;
import javax.net.ssl.HttpsURLConnection;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedTrustManager;

import org.jspecify.annotations.Nullable;

/**
 * The certificates that a probe trusts over HTTPS. Has no effect over HTTP.
 */
final class Trust {

	/** The default trust of the JVM. */
	static final Trust JAVAS_OWN = new Trust(null, null);

	/** Type of a DNS name among a certificate's subject alternative names. */
	private static final int DNS_NAME = 2;

	private final @Nullable SSLContext context;

	private final @Nullable HostnameVerifier names;

	private Trust(@Nullable SSLContext context, @Nullable HostnameVerifier names) {
		this.context = context;
		this.names = names;
	}

	/**
	 * Trusts certificates of an authority that match the requested host or contain the
	 * ranks' common name.
	 * @param authority file with one or more certificates
	 * @param peerName DNS name that the certificates of all ranks contain
	 */
	static Trust in(Path authority, String peerName) throws IOException, GeneralSecurityException {
		return new Trust(context(managers(authority)), (host, session) -> carries(session, peerName));
	}

	/**
	 * Trusts every certificate. Only for requests to the same host that contain no secret
	 * and only check whether a server answers.
	 */
	static Trust inThisHost() throws GeneralSecurityException {
		return new Trust(context(new Anybody()), (host, session) -> true);
	}

	/** Applies this trust to an HTTPS connection. */
	void applyTo(HttpURLConnection connection) {
		if (this.context != null && this.names != null && connection instanceof HttpsURLConnection secured) {
			secured.setSSLSocketFactory(this.context.getSocketFactory());
			secured.setHostnameVerifier(this.names);
		}
	}

	private static SSLContext context(TrustManager... managers) throws GeneralSecurityException {
		SSLContext context = SSLContext.getInstance("TLS");
		context.init(null, managers, null);
		return context;
	}

	private static TrustManager[] managers(Path authority) throws IOException, GeneralSecurityException {
		KeyStore trusted = KeyStore.getInstance(KeyStore.getDefaultType());
		trusted.load(null, null);
		try (InputStream in = Files.newInputStream(authority)) {
			for (Certificate certificate : CertificateFactory.getInstance("X.509").generateCertificates(in)) {
				trusted.setCertificateEntry("authority-" + trusted.size(), certificate);
			}
		}
		TrustManagerFactory factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
		factory.init(trusted);
		return factory.getTrustManagers();
	}

	/** Called only if the certificate does not match the host. */
	private static boolean carries(SSLSession session, String name) {
		try {
			Collection<List<?>> names = ((X509Certificate) session.getPeerCertificates()[0])
				.getSubjectAlternativeNames();
			return names != null && names.stream()
				.anyMatch((each) -> each.get(0).equals(DNS_NAME) && name.equalsIgnoreCase((String) each.get(1)));
		}
		catch (SSLPeerUnverifiedException | CertificateParsingException ex) {
			return false;
		}
	}

	/**
	 * Extends {@link X509ExtendedTrustManager}, since the JDK adds host name checks to
	 * other trust managers.
	 */
	private static final class Anybody extends X509ExtendedTrustManager {

		@Override
		public void checkClientTrusted(X509Certificate[] chain, String type, Socket socket) {
		}

		@Override
		public void checkServerTrusted(X509Certificate[] chain, String type, Socket socket) {
		}

		@Override
		public void checkClientTrusted(X509Certificate[] chain, String type, SSLEngine engine) {
		}

		@Override
		public void checkServerTrusted(X509Certificate[] chain, String type, SSLEngine engine) {
		}

		@Override
		public void checkClientTrusted(X509Certificate[] chain, String type) {
		}

		@Override
		public void checkServerTrusted(X509Certificate[] chain, String type) {
		}

		@Override
		public X509Certificate[] getAcceptedIssuers() {
			return new X509Certificate[0];
		}

	}

}
