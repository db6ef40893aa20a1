package io.tutti.launch;

import java.net.InetAddress;
import java.time.Duration;
import java.util.List;

import io.tutti.BadConfigurationException;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.EngineSettings;
import io.tutti.engine.elastic.ElasticSettings;
import io.tutti.engine.elastic.ElasticSettings.QuorumRule;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatNoException;

@Timeout(20)
class ExposureCheckTest {

	private final ExposureCheck closed = new ExposureCheck(false);

	@ParameterizedTest
	@ValueSource(strings = { "0.0.0.0", "::", "10.0.0.1", "fd00::1" })
	void httpBeyondLoopbackNeedsATokenOrAnonymousAccess(String address) throws Exception {
		InetAddress bind = InetAddress.getByName(address);
		assertThatExceptionOfType(BadConfigurationException.class)
			.isThrownBy(() -> this.closed.requireSafeHttp("a.b", bind))
			.withMessageContaining(bind.getHostAddress())
			.withMessageContaining("tutti.security.token")
			.withMessageContaining("a.b=127.0.0.1")
			.withMessageContaining("tutti.security.anonymous=true");
		assertThatNoException().isThrownBy(() -> new ExposureCheck(true).requireSafeHttp("a.b", bind));
	}

	@ParameterizedTest
	@ValueSource(strings = { "127.0.0.1", "127.8.8.8", "::1" })
	void httpOnLoopbackNeedsNothing(String address) throws Exception {
		InetAddress bind = InetAddress.getByName(address);
		assertThatNoException().isThrownBy(() -> this.closed.requireSafeHttp("a.b", bind));
	}

	@Test
	void noAddressAtAllMeansEveryAddress() {
		assertThatExceptionOfType(BadConfigurationException.class)
			.isThrownBy(() -> this.closed.requireSafeHttp("a.b", null));
	}

	@Test
	void everyRankRejectsARendezvousBeyondLoopback() {
		for (int rank = 0; rank < 2; rank++) {
			RankAssignment assignment = new RankAssignment(rank, 2, 0, 1, "10.1.2.3", 29500);
			assertThatExceptionOfType(BadConfigurationException.class)
				.isThrownBy(() -> this.closed.requireSafeRendezvous(assignment, null))
				.withMessageContaining("10.1.2.3");
			assertThatNoException().isThrownBy(() -> new ExposureCheck(true).requireSafeRendezvous(assignment, null));
		}
	}

	@Test
	void anUnresolvableNameIsNotLoopback() {
		RankAssignment assignment = new RankAssignment(0, 2, 0, 1, "no-such-host.invalid", 29500);
		assertThatExceptionOfType(BadConfigurationException.class)
			.isThrownBy(() -> this.closed.requireSafeRendezvous(assignment, null));
	}

	@Test
	void theBindAddressOverridesTheMasterAddress() {
		RankAssignment local = RankAssignment.onOneHost(0, 2, 29500);
		assertThatNoException().isThrownBy(() -> this.closed.requireSafeRendezvous(local, null));
		assertThatExceptionOfType(BadConfigurationException.class)
			.isThrownBy(() -> this.closed.requireSafeRendezvous(local, "0.0.0.0"));
	}

	@Test
	void aGroupOfOneNeedsNoToken() {
		RankAssignment alone = new RankAssignment(0, 1, 0, 1, "10.1.2.3", 29500);
		assertThatNoException().isThrownBy(() -> this.closed.requireSafeRendezvous(alone, null));
	}

	/** Each rank of an elastic job listens, also the only one. */
	@ParameterizedTest
	@ValueSource(strings = { "10.1.2.3:1", "no-such-host.invalid:1", "127.0.0.1:1,10.1.2.3:1" })
	void anElasticJobBeyondLoopbackNeedsATokenOrAnonymousAccess(String endpoints) {
		ElasticSettings elastic = elastic(endpoints);
		EngineSettings engine = EngineSettings.DEFAULTS;
		assertThatExceptionOfType(BadConfigurationException.class)
			.isThrownBy(() -> this.closed.requireSafeRendezvous(elastic, engine))
			.withMessageContaining(elastic.endpoints().getLast().host())
			.withMessageContaining("tutti.elastic.endpoints");
		assertThatNoException().isThrownBy(() -> new ExposureCheck(true).requireSafeRendezvous(elastic, engine));
	}

	@Test
	void anElasticJobOnLoopbackNeedsNothingUnlessItBindsOtherAddresses() {
		ElasticSettings elastic = elastic("127.0.0.1:1,127.0.0.1:2");
		EngineSettings defaults = EngineSettings.DEFAULTS;
		assertThatNoException().isThrownBy(() -> this.closed.requireSafeRendezvous(elastic, defaults));
		for (EngineSettings engine : List.of(bound("0.0.0.0", null), bound(null, "10.1.2.3"))) {
			assertThatExceptionOfType(BadConfigurationException.class)
				.isThrownBy(() -> this.closed.requireSafeRendezvous(elastic, engine));
		}
	}

	private static ElasticSettings elastic(String endpoints) {
		return new ElasticSettings(1, Duration.ZERO, 0, QuorumRule.LIVE, ElasticSettings.endpoints(endpoints));
	}

	private static EngineSettings bound(@Nullable String rendezvous, @Nullable String data) {
		EngineSettings defaults = EngineSettings.DEFAULTS;
		return new EngineSettings(defaults.backend(), defaults.jobId(), null, -1, rendezvous, null, data, 0, "system",
				defaults.sharedConfig(), defaults.timeouts(), null);
	}

}
