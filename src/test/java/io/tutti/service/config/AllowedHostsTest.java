package io.tutti.service.config;

import java.util.List;

import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

@Timeout(20)
class AllowedHostsTest {

	private static final String LOCAL = "10.1.2.3";

	private final AllowedHosts hosts = new AllowedHosts(
			List.of("Ranks", "*.ranks.ml.svc", "my_rank.", "192.0.2.9", "2001:db8::9", "[2001:db8::8]"));

	@ParameterizedTest
	@ValueSource(strings = { "localhost", "LOCALHOST", "localhost.", "127.0.0.1", "127.9.9.9", "[::1]", "::1",
			"[::ffff:127.0.0.1]", "0.0.0.0", "10.1.2.3", "ranks", "RANKS.", "a.ranks.ml.svc", "a.b.ranks.ml.svc.",
			"my_rank", "192.0.2.9", "[2001:db8:0::9]", "[2001:DB8::8]" })
	void ownConfiguredAndLoopbackHostsAreAllowed(String host) {
		assertThat(this.hosts.contains(host, LOCAL)).isTrue();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", ".", "example.org", "ranks.example.org", "ranks.ml.svc", "xranks.ml.svc",
			"localhost.example.org", "10.1.2.4", "[2001:db8::1]", "[::1", "127.0.0.1.example.org", "*.ranks.ml.svcx" })
	void otherHostsAreNotAllowed(String host) {
		assertThat(this.hosts.contains(host, LOCAL)).isFalse();
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "*", "*.", "a b", "http://ranks", "ranks:8080", "ranks/", "a.*.b", "[::1]:80", "-a" })
	void anInvalidHostIsRejectedWithItsName(String host) {
		assertThatIllegalArgumentException().isThrownBy(() -> new AllowedHosts(List.of(host)))
			.withMessageContaining("got " + host);
	}

	@ParameterizedTest
	@ValueSource(strings = { "fe80::1%lo", "fe80:0:0:0:0:0:0:1" })
	void theScopeOfTheLocalAddressIsIgnored(String local) {
		assertThat(this.hosts.contains("[fe80::1]", local)).isTrue();
	}

}
