package io.tutti.engine.bootstrap;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;

import io.tutti.engine.RankAssignment;
import io.tutti.engine.bootstrap.Endpoint.NameService;
import io.tutti.engine.control.Membership;
import io.tutti.engine.control.PeerAddress;
import io.tutti.engine.control.RendezvousException;
import io.tutti.engine.control.RendezvousException.Reason;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

/** Rendezvous addresses with unresolved, loopback or ambiguous names. */
@Timeout(60)
class EndpointTest {

	private static final NameService HERE = known("127.0.0.1");

	@Test
	void anUnknownNameIsResolvedAgain() {
		TestWorld world = new TestWorld("rank-0.service", 3);
		AtomicInteger asked = new AtomicInteger();
		NameService late = (host) -> {
			if (asked.getAndIncrement() < 9) {
				throw new UnknownHostException(host);
			}
			return HERE.addressesOf(host);
		};
		joinAll(world, 3, late);
		try (world) {
			assertThat(world.members.get(2).roster()).hasSize(3);
			assertThat(asked).hasValueGreaterThanOrEqualTo(12);
		}
	}

	@Test
	void aSilentNameServiceDoesNotExtendTheDeadline() {
		TestWorld world = new TestWorld("rank-0.service", 2);
		CountDownLatch never = new CountDownLatch(1);
		NameService stuck = (host) -> unknown(host, never);
		RendezvousException late = TestWorld
			.refusal(world.joining(assignment(world, 1, 2), TestWorld.SETTINGS, Duration.ofMillis(300), stuck));
		never.countDown();
		assertThat(late.reason()).isEqualTo(Reason.TIMEOUT);
		assertThat(late).hasMessageContaining("did not answer");
	}

	/** Does not know the name, but says so only after the latch. */
	private static InetAddress[] unknown(String host, CountDownLatch latch) throws UnknownHostException {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
		}
		throw new UnknownHostException(host);
	}

	/** Such as the last one, which has only the time that is left. */
	@Test
	void aLookupThatTakesTooLongDoesNotHideWhyEarlierAttemptsFailed() {
		TestWorld world = new TestWorld("rank-0.service", 2);
		AtomicInteger lookups = new AtomicInteger();
		CountDownLatch never = new CountDownLatch(1);
		RendezvousException refused = TestWorld
			.refusal(world.joining(assignment(world, 1, 2), TestWorld.SETTINGS, Duration.ofMillis(1500),
					(host) -> (lookups.incrementAndGet() == 1) ? HERE.addressesOf(host) : unknown(host, never)));
		never.countDown();
		assertThat(refused).hasMessageContaining("refused");
	}

	@Test
	void rankZeroLogsThatItResolvesItsOwnAddress() {
		TestWorld world = new TestWorld("rank-0.service", 2);
		TestWorld.refusal(world.joining(assignment(world, 0, 2), TestWorld.SETTINGS, Duration.ofMillis(400), (host) -> {
			throw new UnknownHostException(host);
		}));
		assertThat(world.events.get(0).notes).first()
			.asString()
			.startsWith("rank 0 resolves rank-0.service:" + world.port + " to listen there");
	}

	@Test
	void backoffGrowsToOneSecondWithJitter() {
		ConnectAttempts one = new ConnectAttempts();
		ConnectAttempts other = new ConnectAttempts();
		List<Long> pauses = new ArrayList<>();
		List<Long> others = new ArrayList<>();
		for (int i = 0; i < 200; i++) {
			pauses.add(one.nextPauseNanos());
			others.add(other.nextPauseNanos());
		}
		assertThat(pauses).allMatch((nanos) -> nanos >= 10_000_000 && nanos < 1_000_000_000).isNotEqualTo(others);
		assertThat(pauses.subList(0, 5).stream().mapToLong(Long::longValue).sum()).isLessThan(700_000_000);
		assertThat(pauses.subList(100, 200)).allMatch((nanos) -> nanos >= 500_000_000);
	}

	@Test
	void anAddressOfAnotherHostIsSkipped() {
		TestWorld world = new TestWorld("rank-0.service", 2);
		CompletableFuture<Membership> zero = world.joining(assignment(world, 0, 2), TestWorld.SETTINGS,
				TestWorld.WAIT_LIMIT, known("192.0.2.1", "2001:db8::1", "127.0.0.1"));
		CompletableFuture<Membership> one = world.joining(assignment(world, 1, 2), TestWorld.SETTINGS,
				TestWorld.WAIT_LIMIT, known("::1", "127.0.0.1"));
		try (world) {
			world.members.put(1, TestWorld.join(one));
			world.members.put(0, TestWorld.join(zero));
		}
	}

	@Test
	void aTakenPortFailsWithoutTryingAnotherAddress() throws Exception {
		TestWorld world = new TestWorld("rank-0.service", 2);
		try (ServerSocket taken = new ServerSocket()) {
			taken.bind(new InetSocketAddress("127.0.0.1", world.port));
			RendezvousException ex = TestWorld.refusal(world.joining(assignment(world, 0, 2), TestWorld.SETTINGS,
					TestWorld.WAIT_LIMIT, known("127.0.0.1", "127.0.0.2")));
			assertThat(ex.reason()).isEqualTo(Reason.ADDRESS);
			assertThat(ex).hasMessageContaining("MASTER_PORT");
		}
	}

	@Test
	void aNameOfALoopbackAddressCausesAWarningIfRanksAreOnOtherHosts() {
		TestWorld world = new TestWorld("node-7", 2);
		joinAll(world, 1, known("127.0.1.1"));
		try (world) {
			assertThat(world.events.get(0).warnings).singleElement()
				.asString()
				.contains("node-7", "127.0.1.1", "tutti.rendezvous.bind-address", "/etc/hosts");
		}
	}

	@Test
	void ranksOfOneHostReachEachOtherAtTheLoopbackAddressOfItsName() {
		TestWorld world = new TestWorld("node-7", 3);
		joinAll(world, 3, known("127.0.1.1"));
		try (world) {
			assertThat(world.members.get(1).roster()).extracting(PeerAddress::host).containsOnly("127.0.1.1");
			assertThat(world.events.get(0).warnings).isEmpty();
		}
	}

	@Test
	void localhostAndLiteralAddressesAreNotNames() {
		assertThat(List.of("localhost", "127.0.0.1", "::1", "[::1]"))
			.noneMatch((host) -> new Endpoint(host, 1).isName());
		assertThat(new Endpoint("node-7", 1).isName()).isTrue();
	}

	@ParameterizedTest
	@CsvSource({ "host,host,29500", "host:1,host,1", "[::1]:65535,::1,65535", "[fd00::2],fd00::2,29500",
			"10.0.0.1:4242,10.0.0.1,4242" })
	void anAddressIsAHostWithAnOptionalPort(String text, String host, int port) {
		assertThat(Endpoint.parse(text, 29500)).isEqualTo(new Endpoint(host, port));
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", ":29500", "host", "host:", "host:0", "host:65536", "host:x", "::1", "[::1",
			"::1]:5", "fe80::1:29500", "[::1]" })
	void aMalformedEndpointIsRejected(String text) {
		assertThatIllegalArgumentException().isThrownBy(() -> Endpoint.parse(text)).withMessageContaining("host:port");
	}

	private static void joinAll(TestWorld world, int localWorldSize, NameService names) {
		List<CompletableFuture<Membership>> joining = IntStream.range(0, world.worldSize)
			.mapToObj((rank) -> world.joining(assignment(world, rank, localWorldSize), TestWorld.SETTINGS,
					TestWorld.WAIT_LIMIT, names))
			.toList();
		for (int rank = 0; rank < world.worldSize; rank++) {
			world.members.put(rank, TestWorld.join(joining.get(rank)));
		}
	}

	private static RankAssignment assignment(TestWorld world, int rank, int localWorldSize) {
		return new RankAssignment(rank, world.worldSize, rank % localWorldSize, localWorldSize, world.host, world.port);
	}

	private static NameService known(String... addresses) {
		InetAddress[] found = Arrays.stream(addresses).map(InetAddress::ofLiteral).toArray(InetAddress[]::new);
		return (host) -> found;
	}

}
