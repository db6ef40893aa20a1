package io.tutti.service.config;

import java.security.KeyStore;
import java.time.Duration;
import java.util.Date;
import java.util.List;

import io.tutti.BadConfigurationException;
import io.tutti.engine.tls.Authority;
import io.tutti.engine.tls.Authority.Identity;
import org.bouncycastle.asn1.x509.KeyPurposeId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.support.StaticListableBeanFactory;
import org.springframework.boot.ssl.DefaultSslBundleRegistry;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.boot.ssl.SslBundles;
import org.springframework.boot.ssl.SslOptions;
import org.springframework.boot.ssl.SslStoreBundle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

@Timeout(60)
class RankTlsTest {

	private static final Authority OURS = Authority.named("CN=ours");

	private static final TlsProperties ASKED = new TlsProperties("ranks", Authority.NAME);

	private final DefaultSslBundleRegistry bundles = new DefaultSslBundleRegistry();

	@Test
	void aBundleWithCertificateKeyAndAuthorityIsUsed() {
		RankTls tls = spoken(bundle(OURS.rank()));
		assertThat(tls.tls()).isNotNull();
		assertThat(tls.tls().peerName()).isEqualTo(Authority.NAME);
		assertThat(tls.validUntil()).isNotNull();
	}

	@Test
	void withoutABundleConnectionsAreNotEncrypted() {
		RankTls tls = RankTls.of(new TlsProperties(null, null), provider());
		assertThat(tls.tls()).isNull();
		assertThat(tls.validUntil()).isNull();
		assertThat(RankTls.of(new TlsProperties("", " "), provider()).tls()).isNull();
	}

	@Test
	void oneOfTheTwoPropertiesAloneIsRejected() {
		assertThatIllegalArgumentException().isThrownBy(() -> new TlsProperties("ranks", null))
			.withMessageContaining("tutti.tls.peer-name");
		assertThatIllegalArgumentException().isThrownBy(() -> new TlsProperties(null, "x"))
			.withMessageContaining("unencrypted");
	}

	@Test
	void anUnknownBundleIsNamed() {
		assertThatThrownBy(() -> RankTls.of(ASKED, provider())).isInstanceOf(BadConfigurationException.class)
			.hasMessageContaining("unknown SSL bundle ranks")
			.hasMessageContaining("spring.ssl.bundle.pem.ranks");
	}

	@Test
	void anUnusableBundleIsRejectedWithTheReason() {
		refused(SslBundle.of(stores(OURS.rank(), false)), "has no trust store");
		refused(SslBundle.of(SslStoreBundle.of(null, null, OURS.trust())),
				"contains no certificate with a private key");
		refused(bundle(OURS.issue(Duration.ofDays(1), List.of("other.test"))),
				"does not contain the DNS name tutti.tls.peer-name=ranks.test");
		refused(bundle(new Identity(OURS.rank().key(), OURS.rank().certificate())),
				"private key of SSL bundle ranks does not match its certificate CN=rank");
		refused(bundle(OURS.issue(Duration.ofHours(-1), List.of(Authority.NAME))), "Renew it");
		refused(bundle(OURS.issue(Duration.ofDays(1), List.of(Authority.NAME), KeyPurposeId.id_kp_serverAuth)),
				"not for both servers and clients");
		refused(SslBundle.of(stores(OURS.rank(), true), null, SslOptions.of(null, new String[] { "TLSv1.2" })),
				"allows only TLSv1.2");
		refused(SslBundle.of(stores(OURS.rank(), true), null, SslOptions.of(new String[] { "TLS_NONSENSE" }, null)),
				"TLS_NONSENSE");
	}

	@Test
	void aRenewedBundleIsUsedUnlessItIsUnusable() {
		RankTls tls = spoken(bundle(OURS.rank()));
		this.bundles.updateBundle("ranks", bundle(OURS.issue(Duration.ofDays(90), List.of(Authority.NAME))));
		var renewed = tls.validUntil();
		assertThat(renewed).isAfter(new Date().toInstant().plus(Duration.ofDays(80)));
		this.bundles.updateBundle("ranks", bundle(OURS.issue(Duration.ofDays(200), List.of("other.test"))));
		assertThat(tls.validUntil()).isEqualTo(renewed);
	}

	private RankTls spoken(SslBundle bundle) {
		this.bundles.registerBundle("ranks", bundle);
		return RankTls.of(ASKED, provider());
	}

	private static void refused(SslBundle bundle, String why) {
		DefaultSslBundleRegistry bundles = new DefaultSslBundleRegistry("ranks", bundle);
		assertThatThrownBy(() -> RankTls.of(ASKED, provider(bundles))).isInstanceOf(BadConfigurationException.class)
			.hasMessageContaining("SSL bundle ranks")
			.hasMessageContaining(why);
	}

	private ObjectProvider<SslBundles> provider() {
		return provider(this.bundles);
	}

	private static ObjectProvider<SslBundles> provider(SslBundles bundles) {
		StaticListableBeanFactory beans = new StaticListableBeanFactory();
		beans.addBean("sslBundles", bundles);
		return beans.getBeanProvider(SslBundles.class);
	}

	private static SslBundle bundle(Identity shown) {
		return SslBundle.of(stores(shown, true));
	}

	private static SslStoreBundle stores(Identity shown, boolean trusting) {
		KeyStore trust = trusting ? OURS.trust() : null;
		return SslStoreBundle.of(Authority.keys(shown), "", trust);
	}

}
