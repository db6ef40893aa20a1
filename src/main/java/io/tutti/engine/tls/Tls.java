package io.tutti.engine.tls;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;

import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSession;

import io.tutti.engine.tls.TlsException.Reason;

/**
 * Mutual TLS 1.3 with the peers of a job. Both sides send a certificate that chains to an
 * authority which the other trusts, and that carries the job's DNS name: ranks know each
 * other by addresses, which no certificate has, and the name distinguishes the job's
 * certificates from others of the same authority. The name is compared without regard to
 * case; wildcards match nothing. Each connection asks for the context again, so that
 * renewed certificates apply to new connections. Thread-safe.
 */
public final class Tls {

	private static final String[] PROTOCOLS = { "TLSv1.3" };

	/** The type of a DNS name in a certificate. */
	private static final int DNS_NAME = 2;

	/** Maximum number of names in a message. */
	private static final int MAX_NAMES = 8;

	private final Supplier<SSLContext> contexts;

	private final List<String> ciphers;

	private final String peerName;

	/**
	 * @param contexts supplies this process's certificate, key and trusted authorities,
	 * once for each connection
	 * @param ciphers names of the cipher suites to use, none for the JDK's own choice
	 * @param peerName the DNS name that every certificate carries
	 * @throws IllegalArgumentException if the name is blank or a suite unknown
	 */
	public Tls(Supplier<SSLContext> contexts, List<String> ciphers, String peerName) {
		if (peerName.isBlank()) {
			throw new IllegalArgumentException("the peer name must not be blank");
		}
		this.contexts = contexts;
		this.ciphers = List.copyOf(ciphers);
		this.peerName = peerName;
		engine(true);
	}

	/** The DNS name that every certificate carries. */
	public String peerName() {
		return this.peerName;
	}

	/** Whether a certificate carries the name. */
	public boolean isNamedBy(X509Certificate certificate) {
		return dnsNames(certificate).stream().anyMatch(this.peerName::equalsIgnoreCase);
	}

	/**
	 * The connecting side.
	 * @param channel a connected channel that does not block; the caller closes it in
	 * every case
	 * @param deadline checked while the peer does not answer
	 * @return the channel to an authenticated peer
	 * @throws TlsException if the peer does not use TLS or is not trusted
	 */
	public TlsChannel connect(SocketChannel channel, HandshakeDeadline deadline) throws IOException {
		TlsChannel opened = new TlsChannel(channel, engine(true));
		opened.handshake(deadline);
		requirePeerName(opened.session());
		return opened;
	}

	/**
	 * The accepting side.
	 * @param channel a connected channel that does not block; the caller closes it in
	 * every case
	 * @param deadline checked while the peer does not answer
	 * @param refusal the message for a client whose certificate is trusted but carries a
	 * wrong name, from the reason
	 * @return the channel to an authenticated peer
	 * @throws TlsException if the peer does not use TLS or is not trusted
	 */
	public TlsChannel accept(SocketChannel channel, HandshakeDeadline deadline, Function<String, ByteBuffer> refusal)
			throws IOException {
		TlsChannel opened = new TlsChannel(channel, engine(false));
		opened.handshake(deadline);
		try {
			requirePeerName(opened.session());
			return opened;
		}
		catch (TlsException ex) {
			refuse(opened, refusal.apply(ex.getMessage()));
			throw ex;
		}
	}

	private static void refuse(TlsChannel client, ByteBuffer reason) {
		try {
			client.write(reason);
			client.shutdownOutput();
		}
		catch (IOException ex) {
			// The client has closed the connection.
		}
	}

	/** Checks that the peer's certificate carries the name. */
	private void requirePeerName(SSLSession session) throws IOException {
		X509Certificate certificate = (X509Certificate) session.getPeerCertificates()[0];
		if (!isNamedBy(certificate)) {
			throw new TlsException(Reason.UNTRUSTED, describe(certificate), null);
		}
	}

	private String describe(X509Certificate certificate) {
		List<String> names = dnsNames(certificate);
		return "its certificate (" + certificate.getSubjectX500Principal() + ") carries "
				+ (names.isEmpty() ? "no DNS name"
						: "the DNS names " + String.join(", ", names.subList(0, Math.min(MAX_NAMES, names.size()))))
				+ " and not " + this.peerName;
	}

	private static List<String> dnsNames(X509Certificate certificate) {
		try {
			Collection<List<?>> names = certificate.getSubjectAlternativeNames();
			return (names == null) ? List.of()
					: names.stream()
						.filter((entry) -> entry.getFirst() instanceof Integer kind && kind == DNS_NAME)
						.map((entry) -> String.valueOf(entry.get(1)))
						.toList();
		}
		catch (CertificateParsingException ex) {
			return List.of();
		}
	}

	private SSLEngine engine(boolean client) {
		SSLEngine engine = this.contexts.get().createSSLEngine();
		engine.setUseClientMode(client);
		SSLParameters parameters = engine.getSSLParameters();
		parameters.setProtocols(PROTOCOLS);
		parameters.setNeedClientAuth(true);
		if (!this.ciphers.isEmpty()) {
			parameters.setCipherSuites(this.ciphers.toArray(String[]::new));
		}
		engine.setSSLParameters(parameters);
		return engine;
	}

	@Override
	public String toString() {
		return "Tls[peerName=" + this.peerName + "]";
	}

}
