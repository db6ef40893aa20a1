package io.tutti.engine.tls;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.security.cert.X509Certificate;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;

import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;

/**
 * How this process speaks TLS 1.3 with its peers: both sides show a certificate that
 * chains to what the other trusts and carries the job's name. Each connection asks for
 * the context anew, so that renewed certificates serve new connections while old ones
 * live on. Safe for any number of threads.
 */
public final class Tls {

	private static final String[] PROTOCOLS = { "TLSv1.3" };

	private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

	private final Supplier<SSLContext> contexts;

	private final List<String> ciphers;

	private final PeerName peerName;

	/**
	 * @param contexts gives this process's certificate with its key, and what it trusts;
	 * asked once for each connection
	 * @param ciphers names of the cipher suites to use, none for the JDK's own choice
	 * @param peerName the DNS name that every certificate carries
	 * @throws IllegalArgumentException if the name is blank or a suite unknown
	 */
	public Tls(Supplier<SSLContext> contexts, List<String> ciphers, String peerName) {
		if (peerName.isBlank()) {
			throw new IllegalArgumentException("the peers' name must not be blank");
		}
		this.contexts = contexts;
		this.ciphers = List.copyOf(ciphers);
		this.peerName = new PeerName(peerName);
		engine(true);
	}

	/** The DNS name that every certificate carries. */
	public String peerName() {
		return this.peerName.name();
	}

	/** Whether a certificate carries the name. */
	public boolean isNamedBy(X509Certificate certificate) {
		return this.peerName.isIn(certificate);
	}

	/**
	 * The connecting side.
	 * @param channel a connected, blocking channel; the caller closes it in every case
	 * @param patience checked while nothing arrives
	 * @return the channel, whose other side has shown who it is
	 * @throws TlsException if the other side does not speak TLS or is not one of ours
	 * @throws IOException if the connection breaks or patience ends
	 */
	public TlsChannel connect(SocketChannel channel, HandshakeDeadline patience) throws IOException {
		TlsChannel opened = new TlsChannel(channel, engine(true));
		opened.shakeHands(patience);
		this.peerName.require(opened.session());
		return opened;
	}

	/**
	 * The accepting side.
	 * @param channel a connected, blocking channel; the caller closes it in every case
	 * @param patience checked while nothing arrives
	 * @return the channel, whose other side has shown who it is
	 * @throws TlsException if the other side does not speak TLS or is not one of ours
	 * @throws IOException if the connection breaks or patience ends
	 */
	public TlsChannel accept(SocketChannel channel, HandshakeDeadline patience) throws IOException {
		return accept(channel, patience, (problem) -> NOTHING);
	}

	/**
	 * The accepting side, which sends the reason to a client with a trusted certificate
	 * of a wrong name what is wrong.
	 * @param lastWords what to say to it, made of what is wrong
	 */
	public TlsChannel accept(SocketChannel channel, HandshakeDeadline patience, Function<String, ByteBuffer> lastWords)
			throws IOException {
		TlsChannel opened = new TlsChannel(channel, engine(false));
		opened.shakeHands(patience);
		try {
			this.peerName.require(opened.session());
			return opened;
		}
		catch (TlsException ex) {
			opened.write(lastWords.apply(ex.getMessage()));
			opened.shutdownOutput();
			throw ex;
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
		return "Tls[peerName=" + peerName() + "]";
	}

}
