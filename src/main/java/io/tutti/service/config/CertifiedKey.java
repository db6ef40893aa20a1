package io.tutti.service.config;

import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.cert.X509Certificate;
import java.util.Collections;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.ssl.SslBundle;

/**
 * The certificate of an SSL bundle and its private key.
 *
 * @param certificate the certificate
 * @param key the key
 */
record CertifiedKey(X509Certificate certificate, PrivateKey key) {

	private static final byte[] ANYTHING = { 1 };

	/**
	 * Reads a bundle.
	 * @return the first matching key entry, {@code null} if the bundle has none
	 * @throws GeneralSecurityException if its key store cannot be read
	 */
	static @Nullable CertifiedKey of(SslBundle bundle) throws GeneralSecurityException {
		KeyStore keys = bundle.getStores().getKeyStore();
		if (keys == null) {
			return null;
		}
		String wanted = bundle.getKey().getAlias();
		for (String alias : Collections.list(keys.aliases())) {
			if (keys.isKeyEntry(alias) && (wanted == null || alias.equals(wanted))
					&& keys.getCertificate(alias) instanceof X509Certificate certificate
					&& keys.getKey(alias, password(bundle)) instanceof PrivateKey key) {
				return new CertifiedKey(certificate, key);
			}
		}
		return null;
	}

	private static char @Nullable [] password(SslBundle bundle) {
		String own = bundle.getKey().getPassword();
		String password = (own != null) ? own : bundle.getStores().getKeyStorePassword();
		return (password != null) ? password.toCharArray() : null;
	}

	/**
	 * Whether the private key matches the certificate. With a mismatch every handshake
	 * fails. Files that are replaced one after the other mismatch for a short time.
	 */
	boolean belongTogether() {
		String algorithm = switch (this.key.getAlgorithm()) {
			case "RSA" -> "SHA256withRSA";
			case "EC" -> "SHA256withECDSA";
			case "EdDSA", "Ed25519", "Ed448" -> "EdDSA";
			default -> null;
		};
		try {
			return algorithm == null || isSignedForBoth(algorithm);
		}
		catch (GeneralSecurityException ex) {
			return false;
		}
	}

	private boolean isSignedForBoth(String algorithm) throws GeneralSecurityException {
		Signature signature = Signature.getInstance(algorithm);
		signature.initSign(this.key);
		signature.update(ANYTHING);
		byte[] signed = signature.sign();
		signature.initVerify(this.certificate.getPublicKey());
		signature.update(ANYTHING);
		return signature.verify(signed);
	}

}
