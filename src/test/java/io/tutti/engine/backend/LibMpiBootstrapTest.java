package io.tutti.engine.backend;

import java.io.IOException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

import io.tutti.engine.backend.RankThreads.Outcome;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.GroupSetupException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The address that rank 0 announces when the ranks run on an MPI library.
 */
class LibMpiBootstrapTest {

	@ParameterizedTest
	@ValueSource(strings = { "0.0.0.0", "::" })
	void aWildcardIsNotAnnounced(String wildcard) throws IOException {
		assertThat(LibMpiBootstrap.announced(wildcard, true)).isEqualTo("127.0.0.1");
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void anAddressIsAnnounced(boolean oneHost) throws IOException {
		assertThat(LibMpiBootstrap.announced("192.0.2.7", oneHost)).isEqualTo("192.0.2.7");
	}

	@Test
	void theFirstAddressThatOtherHostsMayReachIsAnnouncedWithoutAnInterface() throws IOException {
		Inet6Address scoped = Inet6Address.getByAddress(null, InetAddress.ofLiteral("2001:db8::7").getAddress(), 3);
		assertThat(scoped.getHostAddress()).endsWith("%3");
		assertThat(LibMpiBootstrap.firstReachable(Stream.of(InetAddress.ofLiteral("127.0.1.1"),
				InetAddress.ofLiteral("fe80::1"), scoped, InetAddress.ofLiteral("192.0.2.7"))))
			.hasValue("2001:db8:0:0:0:0:0:7");
		assertThat(LibMpiBootstrap.firstReachable(Stream.of(InetAddress.getLoopbackAddress()))).isEmpty();
	}

	/** 192.0.2.7 is of no host (RFC 5737). */
	@Test
	void everyRankFailsWithTheReasonOfRankZero() throws Exception {
		CyclicBarrier entered = new CyclicBarrier(2);
		byte[][] sent = new byte[2][];
		List<Outcome<LibMpiBootstrap>> outcomes = RankThreads.outcomes(2, Duration.ofSeconds(20),
				(rank) -> LibMpiBootstrap.agree(GroupIdentity.world(rank, 2, 0), (rank == 0) ? "192.0.2.7" : null,
						(bytes) -> allGather(rank, bytes, sent, entered)));
		assertThat(outcomes)
			.allSatisfy((outcome) -> assertThat(outcome.failure()).isInstanceOf(GroupSetupException.class)
				.hasMessageContaining("rank 0 cannot listen for the control plane; set tutti.rendezvous.bind-address")
				.hasMessageContaining("192.0.2.7: "));
	}

	private static byte[] allGather(int rank, byte[] bytes, byte[][] sent, CyclicBarrier entered) {
		try {
			sent[rank] = bytes;
			entered.await(10, TimeUnit.SECONDS);
			byte[] all = Arrays.copyOf(sent[0], 2 * bytes.length);
			System.arraycopy(sent[1], 0, all, bytes.length, bytes.length);
			entered.await(10, TimeUnit.SECONDS);
			return all;
		}
		catch (InterruptedException | BrokenBarrierException | TimeoutException ex) {
			throw new IllegalStateException("the other rank did not take part", ex);
		}
	}

}
