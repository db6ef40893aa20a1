package io.tutti.service.config;

import java.net.InetAddress;
import java.util.List;

import io.tutti.BadConfigurationException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

@Timeout(20)
class NetworkSelectionTest {

	private final NetworkSelection selection = new NetworkSelection(
			List.of(of("lo", "127.0.0.1"), of("lo", "::1"), of("eth0", "fe80::5"), of("eth0", "10.1.2.3"),
					of("eth0", "fd00::3"), of("eth01", "10.2.0.9"), of("ib0", "192.168.7.1")));

	@ParameterizedTest
	@CsvSource({ "eth0, 10.1.2.3", "eth01, 10.2.0.9", "ib, 192.168.7.1", "10.2.0.0/16, 10.2.0.9",
			"192.168.7.1/32, 192.168.7.1", "fd00::/8, fd00:0:0:0:0:0:0:3", "10.0.0.0/8, 10.1.2.3", "lo, 127.0.0.1",
			"0.0.0.0/0, 127.0.0.1" })
	void aNameAPrefixOrANetworkSelectsAnAddress(String wanted, String address) {
		assertThat(this.selection.select(wanted, "10.1.2.1").text()).isEqualTo(address);
	}

	@Test
	void theRendezvousFamilyIsPreferredAndLinkLocalAddressesComeLast() {
		assertThat(this.selection.select("eth0", "[fd00::1]").text()).isEqualTo("fd00:0:0:0:0:0:0:3");
		assertThat(this.selection.select("lo", "::1").text()).isEqualTo("0:0:0:0:0:0:0:1");
		assertThat(this.selection.select("ib0", "::1").text()).isEqualTo("192.168.7.1");
	}

	@ParameterizedTest
	@ValueSource(strings = { "wlan0", "10.3.0.0/16", "h0" })
	void anUnknownInterfaceIsRejectedWithTheExistingOnes(String wanted) {
		assertThatExceptionOfType(BadConfigurationException.class)
			.isThrownBy(() -> this.selection.select(wanted, "10.1.2.1"))
			.withMessageContaining("tutti.network.interface=" + wanted)
			.withMessageContaining("lo 127.0.0.1, lo 0:0:0:0:0:0:0:1, eth0 fe80:0:0:0:0:0:0:5, eth0 10.1.2.3");
	}

	@ParameterizedTest
	@ValueSource(strings = { "10.1.0.0/33", "10.1.0.0/-1", "10.1.0.0/", "10.1.0.0/x", "eth0/8", "fd00::/129" })
	void anInvalidNetworkIsRejected(String text) {
		assertThatIllegalArgumentException().isThrownBy(() -> new NetworkProperties(text));
	}

	@Test
	void aBlankIsRejected() {
		assertThatIllegalArgumentException().isThrownBy(() -> new NetworkProperties(" "))
			.withMessageContaining("interface");
	}

	@Test
	void theAddressesOfThisHostIncludeLoopback() {
		assertThat(HostAddress.all()).anyMatch((candidate) -> candidate.address().isLoopbackAddress());
	}

	private static HostAddress of(String name, String address) {
		return new HostAddress(name, InetAddress.ofLiteral(address));
	}

}
