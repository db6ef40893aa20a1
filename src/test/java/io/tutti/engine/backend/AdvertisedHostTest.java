package io.tutti.engine.backend;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;

import io.tutti.CollectiveException;
import io.tutti.CollectiveListener;
import io.tutti.DataType;
import io.tutti.Failure;
import io.tutti.FreePort;
import io.tutti.GroupAbortedException;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.Timeouts;
import io.tutti.engine.algorithm.AlgorithmOverrides;
import io.tutti.engine.backend.RankThreads.Outcome;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * A rank advertises a host name that other ranks cannot resolve. They report that at once
 * and do not name the rank as lost.
 */
@Timeout(60)
class AdvertisedHostTest {

	private static final Duration LIMIT = Duration.ofSeconds(30);

	/** No name under this domain ever resolves (RFC 6761). */
	private static final String NOWHERE = "no-such-host.invalid";

	private static void requireNamed(Throwable failure, int here, int there) {
		assertThat(failure).isInstanceOf(GroupAbortedException.class)
			.hasMessageContaining("rank " + here + " cannot resolve the host name " + NOWHERE)
			.hasMessageContaining("that rank " + there + " advertises")
			.hasMessageContaining("tutti.transport.advertised-host")
			.satisfies((ex) -> assertThat(((CollectiveException) ex).failure().ranks()).containsExactly(here));
	}

	@Test
	void aSendToItFailsAtOnce() throws Exception {
		try (PointToPointPair pair = PointToPointPair.overTcp(NOWHERE)) {
			pair.resolveLocally(0);
			MemorySegment buffer = MemorySegment.ofArray(new byte[1]);
			assertThatThrownBy(() -> pair.engine(0).send(buffer, DataType.INT8, 1, 0, LIMIT))
				.satisfies((ex) -> requireNamed(ex, 0, 1))
				.hasMessageContaining("send to rank 1 with tag 0");
		}
	}

	@Test
	void aFutureOfASendToItFailsAtOnce() throws Exception {
		try (PointToPointPair pair = PointToPointPair.overTcp(NOWHERE)) {
			pair.resolveLocally(0);
			MemorySegment buffer = MemorySegment.ofArray(new byte[100_000]);
			assertThat(pair.engine(0).sendAsync(buffer, DataType.INT8, 1, 0, Duration.ofMinutes(10))).failsWithin(LIMIT)
				.withThrowableThat()
				.havingCause()
				.satisfies((ex) -> requireNamed(ex, 0, 1));
		}
	}

	/** A group forms by collectives over TCP. */
	@Test
	void noGroupForms() throws Exception {
		int port = FreePort.next();
		List<Outcome<Void>> outcomes = RankThreads.outcomes(2, LIMIT, (rank) -> {
			try (Engine engine = Engine.join(RankAssignment.onOneHost(rank, 2, port),
					settings((rank == 0) ? NOWHERE : null), CollectiveListener.NONE)) {
				engine.world().barrier();
			}
			return null;
		});
		assertThat(outcomes).allSatisfy((outcome) -> requireNamed(outcome.failure(), 1, 0));
		assertThat(((CollectiveException) outcomes.get(0).failure()).failure().kind()).isEqualTo(Failure.Kind.ABORTED);
	}

	private static EngineSettings settings(String advertised) {
		EngineSettings defaults = EngineSettings.DEFAULTS;
		return new EngineSettings(defaults.backend(), "nowhere", "a token", -1, null, advertised, null, 0,
				defaults.congestionControl(), new SharedConfig(TransportChoice.TCP, AlgorithmOverrides.NONE),
				new Timeouts(LIMIT, LIMIT, LIMIT, Duration.ofSeconds(2), LIMIT), null);
	}

}
