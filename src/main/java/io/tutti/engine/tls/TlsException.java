package io.tutti.engine.tls;

import java.io.IOException;
import java.security.cert.CertificateException;
import java.security.cert.CertificateExpiredException;
import java.security.cert.CertificateNotYetValidException;

import javax.net.ssl.SSLException;

import org.jspecify.annotations.Nullable;

/**
 * Two sides do not come to speak TLS, or no longer do. The message says of the other side
 * what is wrong with it; trying again would end the same way.
 */
public final class TlsException extends IOException {

	private static final long serialVersionUID = 1L;

	/** What is wrong. */
	public enum Reason {

		/** The other side does not speak TLS at all. */
		NOT_TLS,
		/**
		 * The other side's certificate is not to be trusted or of a wrong name.
		 */
		UNTRUSTED,
		/**
		 * The other side gave up or shows no certificate, or they find no common words.
		 */
		REFUSED

	}

	private final Reason reason;

	TlsException(Reason reason, String message, @Nullable Throwable cause) {
		super(message, cause);
		this.reason = reason;
	}

	/** What the JDK's engine says, in words about the other side. */
	static TlsException of(SSLException ex) {
		for (Throwable cause = ex; cause != null; cause = cause.getCause()) {
			if (cause instanceof CertificateException) {
				return new TlsException(Reason.UNTRUSTED, "its certificate is not trusted: " + innermost(cause), ex);
			}
		}
		return new TlsException(Reason.REFUSED, "TLS failed: " + ex.getMessage(), ex);
	}

	/** The last of the causes says what is wrong, the others only where. */
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
