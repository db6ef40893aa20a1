package io.tutti.engine.control;

import java.net.InetAddress;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Tests which addresses belong to a host. 192.0.2.0/24 and 2001:db8::/32 are reserved for
 * documentation, so no host has such an address.
 */
@Timeout(20)
class LocalAddressTest {

	private static final InetAddress LOOPBACK = InetAddress.getLoopbackAddress();

	@ParameterizedTest
	@CsvSource({ "127.0.0.1, true", "127.5.6.7, true", "0.0.0.0, true", "192.0.2.1, false", "2001:db8::1, false" })
	void anAddressBelongsToThisHostIfItCanBeBound(String address, boolean ours) {
		assertThat(LocalAddress.isOfThisHost(InetAddress.ofLiteral(address))).isEqualTo(ours);
	}

	@Test
	void theFirstAddressOfThisHostIsChosen() {
		InetAddress foreign = InetAddress.ofLiteral("192.0.2.1");
		assertThat(LocalAddress.firstOf(foreign, LOOPBACK)).isEqualTo(LOOPBACK);
		assertThat(LocalAddress.firstOf(foreign)).isEqualTo(foreign);
	}

}
