package io.tutti.engine.tls;

import java.io.IOException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;

import javax.net.ssl.SSLException;

import org.jspecify.annotations.Nullable;

/**
 * The TLS handshake or the TLS connection has failed. The message states what is wrong
 * with the peer; another attempt would fail the same way.
 */
public final class TlsException extends IOException {

	private static final long serialVersionUID = 1L;

	/** What is wrong. */
	public enum Reason {

		/** The peer does not speak TLS. */
		NOT_TLS,
		/**
		 * The peer's certificate is not trusted or carries a wrong name.
		 */
		UNTRUSTED,
		/**
		 * The peer rejected the handshake, sent no certificate, or supports no common
		 * parameters.
		 */
		REFUSED

	}

	private final Reason reason;

	TlsException(Reason reason, String message, @Nullable Throwable cause) {
		super(message, cause);
		this.reason = reason;
	}

	/** Maps the JDK engine's exception to a statement about the peer. */
	static TlsException of(SSLException ex) {
		for (Throwable cause = ex; cause != null; cause = cause.getCause()) {
			if (cause instanceof CertificateException) {
				return new TlsException(Reason.UNTRUSTED, "its certificate is not trusted: " + innermost(cause), ex);
			}
		}
		return new TlsException(Reason.REFUSED, "TLS failed: " + ex.getMessage(), ex);
	}

	/** The innermost cause states what is wrong. */
	private static String innermost(Throwable ex) {
		Throwable last = ex;
		while (last.getCause() != null) {
			last = last.getCause();
		}
		return switch (last) {
			case CertificateExpiredException _ -> "it has expired (" + last.getMessage() + ")";
			case CertificateNotYetValidException _ -> "it is not valid yet (" + last.getMessage() + ")";
			default -> String.valueOf(last.getMessage());
		};
	}

	/** What is wrong. */
	public Reason reason() {
		return this.reason;
	}

}
