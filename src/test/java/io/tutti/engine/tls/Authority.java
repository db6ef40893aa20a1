package io.tutti.engine.tls;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;
import java.util.Date;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;

import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

import org.bouncycastle.asn1.x500.X500Name;
import org.bouncycastle.asn1.x509.BasicConstraints;
import org.bouncycastle.asn1.x509.ExtendedKeyUsage;
import org.bouncycastle.asn1.x509.Extension;
import org.bouncycastle.asn1.x509.GeneralName;
import org.bouncycastle.asn1.x509.GeneralNames;
import org.bouncycastle.asn1.x509.KeyPurposeId;
import org.bouncycastle.cert.X509v3CertificateBuilder;
import org.bouncycastle.cert.jcajce.JcaX509CertificateConverter;
import org.bouncycastle.cert.jcajce.JcaX509v3CertificateBuilder;
import org.bouncycastle.operator.OperatorCreationException;
import org.bouncycastle.operator.jcajce.JcaContentSignerBuilder;

/**
 * A certificate authority of a test's own.
 */
public final class Authority {

	/** The name that the certificates of a test's job carry. */
	public static final String NAME = "ranks.test";

	private static final char[] NO_PASSWORD = {};

	private static final AtomicLong SERIALS = new AtomicLong(1);

	/**
	 * A certificate and its key.
	 */
	public record Identity(PrivateKey key, X509Certificate certificate) {

		/** Writes both as a PEM bundle wants them. */
		public void write(Path certificateFile, Path keyFile) throws IOException, GeneralSecurityException {
			Files.writeString(keyFile, pem("PRIVATE KEY", this.key.getEncoded()));
			Files.writeString(certificateFile, pem("CERTIFICATE", this.certificate.getEncoded()));
		}

	}

	private final String name;

	private final Identity own;

	private Authority(String name, Identity own) {
		this.name = name;
		this.own = own;
	}

	/** A new one. */
	public static Authority named(String name) {
		try {
			KeyPair pair = keyPair();
			X509v3CertificateBuilder builder = builder(name, pair, name, Duration.ofDays(1));
			builder.addExtension(Extension.basicConstraints, true, new BasicConstraints(true));
			return new Authority(name, new Identity(pair.getPrivate(), sign(builder, pair.getPrivate())));
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** A certificate for ranks that is good for a day. */
	public Identity rank() {
		return issue(Duration.ofDays(1), List.of(NAME), KeyPurposeId.id_kp_serverAuth, KeyPurposeId.id_kp_clientAuth);
	}

	/**
	 * A certificate.
	 * @param validFor how long from now, negative if it has expired
	 * @param names the DNS names it carries
	 * @param purposes what it is for, none for everything
	 */
	public Identity issue(Duration validFor, List<String> names, KeyPurposeId... purposes) {
		try {
			KeyPair pair = keyPair();
			KeyPair signer = new KeyPair(this.own.certificate().getPublicKey(), this.own.key());
			X509v3CertificateBuilder builder = builder(this.name, pair, "CN=rank", validFor);
			if (!names.isEmpty()) {
				builder.addExtension(Extension.subjectAlternativeName, false,
						new GeneralNames(names.stream()
							.map((each) -> new GeneralName(GeneralName.dNSName, each))
							.toArray(GeneralName[]::new)));
			}
			if (purposes.length > 0) {
				builder.addExtension(Extension.extendedKeyUsage, false, new ExtendedKeyUsage(purposes));
			}
			return new Identity(pair.getPrivate(), sign(builder, signer.getPrivate()));
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** A context that shows an identity, or nothing, and trusts this authority. */
	public SSLContext context(Identity... shown) {
		try {
			KeyManagerFactory keyManagers = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
			keyManagers.init(keys(shown), NO_PASSWORD);
			TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
			trust.init(trust());
			SSLContext context = SSLContext.getInstance("TLS");
			context.init(keyManagers.getKeyManagers(), trust.getTrustManagers(), null);
			return context;
		}
		catch (GeneralSecurityException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** A key store with identities in it, whose password is empty. */
	public static KeyStore keys(Identity... shown) {
		try {
			KeyStore keys = empty();
			for (Identity identity : shown) {
				keys.setKeyEntry("rank", identity.key(), NO_PASSWORD, new X509Certificate[] { identity.certificate() });
			}
			return keys;
		}
		catch (GeneralSecurityException | IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

	/** A trust store with this authority in it. */
	public KeyStore trust() {
		try {
			KeyStore trusted = empty();
			trusted.setCertificateEntry("authority", this.own.certificate());
			return trusted;
		}
		catch (GeneralSecurityException | IOException ex) {
			throw new IllegalStateException(ex);
		}
	}

	private static KeyStore empty() throws GeneralSecurityException, IOException {
		KeyStore store = KeyStore.getInstance("PKCS12");
		store.load(null, null);
		return store;
	}

	/** TLS for ranks with an identity, or none, that trust this authority. */
	public Tls tls(Identity... shown) {
		SSLContext context = context(shown);
		return new Tls(() -> context, List.of(), NAME);
	}

	/** Writes the authority's own certificate as a PEM bundle wants it. */
	public void write(Path file) throws IOException, GeneralSecurityException {
		Files.writeString(file, pem("CERTIFICATE", this.own.certificate().getEncoded()));
	}

	private static KeyPair keyPair() throws GeneralSecurityException {
		KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
		generator.initialize(256);
		return generator.generateKeyPair();
	}

	private static X509v3CertificateBuilder builder(String issuer, KeyPair subject, String subjectName,
			Duration validFor) {
		Instant end = Instant.now().plus(validFor);
		return new JcaX509v3CertificateBuilder(new X500Name(issuer), BigInteger.valueOf(SERIALS.getAndIncrement()),
				Date.from(Instant.now().minus(Duration.ofDays(2))), Date.from(end), new X500Name(subjectName),
				subject.getPublic());
	}

	private static X509Certificate sign(X509v3CertificateBuilder builder, PrivateKey key)
			throws OperatorCreationException, GeneralSecurityException {
		return new JcaX509CertificateConverter()
			.getCertificate(builder.build(new JcaContentSignerBuilder("SHA256withECDSA").build(key)));
	}

	private static String pem(String what, byte[] der) {
		String body = Base64.getMimeEncoder(64, new byte[] { '\n' }).encodeToString(der);
		return String.join("\n", Arrays.asList("-----BEGIN " + what + "-----", body, "-----END " + what + "-----", ""));
	}

}
