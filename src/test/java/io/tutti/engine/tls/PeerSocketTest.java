package io.tutti.engine.tls;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.nio.channels.SocketChannel;
import java.time.Duration;

import io.tutti.engine.spi.LocalFaultException;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

@Timeout(20)
class PeerSocketTest {

	/** A loopback address is bound first. */
	@ParameterizedTest
	@ValueSource(strings = { "0:0:0:0:0:0:0:1", "2001:db8:0:0:0:0:0:1" })
	void anAddressThatTheJvmHasNoSocketForIsAFaultOfThisRank(String host) throws Exception {
		try (SocketChannel socket = SocketChannel.open(StandardProtocolFamily.INET)) {
			InetSocketAddress address = new InetSocketAddress(InetAddress.ofLiteral(host), 7000);
			assertThatExceptionOfType(LocalFaultException.class)
				.isThrownBy(
						() -> PeerSocket.establish(socket, address, HandshakeDeadline.within(Duration.ofSeconds(1))))
				.withMessage("this rank cannot connect to " + host + ": its JVM has no IPv6");
		}
	}

}
