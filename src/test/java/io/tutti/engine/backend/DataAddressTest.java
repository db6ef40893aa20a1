package io.tutti.engine.backend;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.time.Duration;

import io.tutti.engine.RankAssignment;
import io.tutti.engine.Timeouts;
import io.tutti.engine.algorithm.AlgorithmOverrides;
import io.tutti.engine.bootstrap.Endpoint.NameService;
import io.tutti.engine.control.RendezvousException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Where a rank accepts data, if the name of rank 0's host is a loopback address there.
 */
class DataAddressTest {

	private static final NameService NAMES = (host) -> {
		if (host.equals("unknown")) {
			throw new UnknownHostException(host);
		}
		return new InetAddress[] { InetAddress.ofLiteral(host.equals("node-7") ? "127.0.1.1" : host) };
	};

	private static @Nullable InetAddress address(int localWorldSize, @Nullable String token, @Nullable String bind) {
		return address(new RankAssignment(0, 4, 0, localWorldSize, "node-7", 29500), token, bind);
	}

	private static @Nullable InetAddress address(RankAssignment assignment, @Nullable String token,
			@Nullable String bind) {
		return address(assignment, token, bind, null);
	}

	private static @Nullable InetAddress address(RankAssignment assignment, @Nullable String token,
			@Nullable String bind, @Nullable String data) {
		EngineSettings defaults = EngineSettings.DEFAULTS;
		Duration limit = Duration.ofSeconds(1);
		EngineSettings settings = new EngineSettings(defaults.backend(), "job", token, -1, bind, null, data, 0,
				defaults.congestionControl(), new SharedConfig(TransportChoice.TCP, AlgorithmOverrides.NONE),
				new Timeouts(limit, limit, limit, limit, limit), null);
		return Engine.dataAddress(assignment, settings, NAMES);
	}

	@Test
	void ranksOfOneHostUseLoopback() {
		assertThat(address(4, null, null)).isEqualTo(InetAddress.ofLiteral("127.0.1.1"));
		assertThat(address(4, "a token", null)).isEqualTo(InetAddress.ofLiteral("127.0.1.1"));
	}

	@Test
	void aRendezvousThatOtherHostsReachOpensTheDataPortToThem() {
		assertThat(address(2, "a token", "0.0.0.0")).isNull();
		assertThat(address(2, null, "0.0.0.0")).isNull();
	}

	/** Only rank 0 needs to know its bind address. */
	@Test
	void soDoRanksOnOtherHostsIfThereIsAToken() {
		assertThat(address(2, "a token", null)).isNull();
	}

	@Test
	void withoutATokenNothingListensBeyondLoopbackUnlessItIsAskedTo() {
		assertThat(address(2, null, null)).isEqualTo(InetAddress.ofLiteral("127.0.1.1"));
		assertThat(address(2, null, "127.0.0.1")).isEqualTo(InetAddress.ofLiteral("127.0.1.1"));
	}

	@Test
	void aSingleRankListensOnLoopbackWhateverTheAddresses() {
		RankAssignment single = new RankAssignment(0, 1, 0, 1, "10.0.0.1", 29500);
		assertThat(address(single, null, "0.0.0.0")).isEqualTo(InetAddress.getLoopbackAddress());
	}

	@Test
	void anAddressOfThisRankThatIsNotKnownOpensNoPort() {
		RankAssignment rank = new RankAssignment(0, 4, 0, 4, "node-7", 29500);
		assertThat(address(rank, null, null, "10.0.0.1")).isEqualTo(InetAddress.ofLiteral("10.0.0.1"));
		assertThatExceptionOfType(RendezvousException.class).isThrownBy(() -> address(rank, null, "unknown"))
			.withMessageContaining("the address unknown of this rank is not known")
			.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(RendezvousException.Reason.ADDRESS));
		assertThatExceptionOfType(RendezvousException.class).isThrownBy(() -> address(rank, null, null, "unknown"));
	}

	/** The host of rank 0 may still be starting. */
	@Test
	void aRendezvousAddressThatIsNotKnownYetIsNotLoopback() {
		assertThat(address(new RankAssignment(1, 4, 0, 4, "unknown", 29500), null, null)).isNull();
	}

	/** No other host can reach it, however many the launcher counts. */
	@Test
	void aRendezvousAtALoopbackAddressKeepsDataOnLoopback() {
		RankAssignment two = new RankAssignment(0, 4, 0, 2, "127.0.0.1", 29500);
		assertThat(address(two, "a token", null)).isEqualTo(InetAddress.ofLiteral("127.0.0.1"));
	}

}
