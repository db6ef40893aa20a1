package io.tutti.engine.tls;

import java.security.cert.Certificate;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.List;

import javax.net.ssl.SSLPeerUnverifiedException;
import javax.net.ssl.SSLSession;

import io.tutti.engine.tls.TlsException.Reason;

/**
 * The DNS name that every certificate of a job carries. Ranks know each other by
 * addresses, which no certificate has; the name tells the job's certificates from others
 * of the same authority. Compared as it stands, without regard to case; wildcards match
 * nothing.
 *
 * @param name the name
 */
record PeerName(String name) {

	private static final int DNS = 2;

	/** More names than this help nobody. */
	private static final int NAMED = 8;

	/**
	 * Checks the certificate that the other side of a session has shown.
	 * @throws TlsException if it does not carry the name
	 */
	void require(SSLSession session) throws TlsException {
		X509Certificate certificate = certificate(session);
		if (!isIn(certificate)) {
			throw new TlsException(Reason.UNTRUSTED, describe(certificate), null);
		}
	}

	/** Whether a certificate carries the name. */
	boolean isIn(X509Certificate certificate) {
		return names(certificate).stream().anyMatch(this.name::equalsIgnoreCase);
	}

	private String describe(X509Certificate certificate) {
		List<String> names = names(certificate);
		return "its certificate (" + certificate.getSubjectX500Principal() + ") carries "
				+ (names.isEmpty() ? "no DNS name"
						: "the DNS names " + String.join(", ", names.subList(0, Math.min(NAMED, names.size()))))
				+ " and not " + this.name;
	}

	private static X509Certificate certificate(SSLSession session) throws TlsException {
		try {
			Certificate[] chain = session.getPeerCertificates();
			if (chain.length > 0 && chain[0] instanceof X509Certificate certificate) {
				return certificate;
			}
			throw new TlsException(Reason.UNTRUSTED, "it has shown no X.509 certificate", null);
		}
		catch (SSLPeerUnverifiedException ex) {
			throw new TlsException(Reason.UNTRUSTED, "it has shown no certificate", ex);
		}
	}

	private static List<String> names(X509Certificate certificate) {
		try {
			Collection<List<?>> names = certificate.getSubjectAlternativeNames();
			return (names == null) ? List.of()
					: names.stream()
						.filter((entry) -> entry.getFirst() instanceof Integer kind && kind == DNS)
						.map((entry) -> String.valueOf(entry.get(1)))
						.toList();
		}
		catch (CertificateParsingException ex) {
			return List.of();
		}
	}

}
