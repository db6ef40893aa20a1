package io.tutti.engine.backend;

import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;

import javax.net.ssl.SSLContext;

import io.tutti.Collective;
import io.tutti.CollectiveException;
import io.tutti.CollectiveMismatchException;
import io.tutti.DataType;
import io.tutti.PeerLostException;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.engine.backend.CollectivesContract.World;
import io.tutti.engine.backend.RankThreads.Outcome;
import io.tutti.engine.tls.Authority;
import io.tutti.engine.tls.Tls;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The parts of the contract that could differ with mutual TLS between ranks.
 */
@Timeout(120)
class TlsProcessGroupTest {

	private static final Duration LIMIT = Duration.ofSeconds(60);

	private static final Authority AUTHORITY = Authority.named("CN=ours");

	/** More than a socket buffers in one direction. */
	private static final int LARGE = 4 << 20;

	private final AtomicReference<SSLContext> context = new AtomicReference<>(AUTHORITY.context(AUTHORITY.rank()));

	private World world(int worldSize) throws Exception {
		return Worlds.tls(worldSize, new Tls(this.context::get, List.of(), Authority.NAME));
	}

	@ParameterizedTest
	@ValueSource(ints = { 2, 3 })
	void everyCollectiveMatchesTheSingleThreadedReference(int worldSize) throws Exception {
		try (World world = world(worldSize)) {
			RankThreads.run(worldSize, LIMIT, (rank) -> {
				for (Collective collective : Collective.values()) {
					for (CallSpec spec : CallSpec.of(collective, worldSize)) {
						CollectivesContract.runAndCheck(world.group(rank), spec);
					}
				}
				return null;
			});
		}
	}

	@ParameterizedTest
	@ValueSource(ints = { 1, 2, 3, 5 })
	void partsMayLieInPlaceInEveryCollective(int worldSize) throws Exception {
		try (World world = world(worldSize)) {
			RankThreads.run(worldSize, LIMIT, (rank) -> {
				InPlaceLayouts.check(world.group(rank));
				return null;
			});
		}
	}

	@Test
	void sharedMemoryIsNegotiatedOverATlsControlPlane() throws Exception {
		Tls tls = new Tls(this.context::get, List.of(), Authority.NAME);
		for (TransportChoice transport : List.of(TransportChoice.SHM, TransportChoice.AUTO)) {
			try (World world = Worlds.joined(2, transport, tls, Worlds.TIMEOUTS)) {
				sum(world);
			}
		}
	}

	@Test
	void randomCallSequencesMatchTheSingleThreadedReference() throws Exception {
		long seed = Long.getLong("tutti.test.seed", System.nanoTime());
		try (World world = world(3)) {
			RankThreads.run(3, LIMIT, (rank) -> {
				Random random = new Random(seed);
				for (int round = 0; round < 4; round++) {
					CollectivesContract.runSequence(world.group(rank), random);
				}
				return null;
			});
		}
		catch (Exception | AssertionError ex) {
			throw new AssertionError("failed with -Dtutti.test.seed=" + seed, ex);
		}
	}

	@Test
	void largeBuffersAreExchangedInBothDirectionsAtOnce() throws Exception {
		try (World world = world(2)) {
			RankThreads.run(2, LIMIT, (rank) -> {
				float[] values = new float[LARGE];
				for (int i = 0; i < LARGE; i++) {
					values[i] = i % 1000 + rank;
				}
				world.group(rank).allReduce(values, ReduceOp.SUM);
				for (int i = 0; i < LARGE; i++) {
					if (values[i] != 2 * (i % 1000) + 1) {
						throw new AssertionError("element " + i + " is " + values[i]);
					}
				}
				return null;
			});
		}
	}

	@Test
	void differentCallsFailOnEveryRankWithBothInTheMessage() throws Exception {
		try (World world = world(2)) {
			List<Outcome<Void>> outcomes = RankThreads.outcomes(2, LIMIT, (rank) -> {
				world.group(rank).allReduce(new float[10 + rank], ReduceOp.SUM);
				return null;
			});
			assertThat(outcomes)
				.allSatisfy((outcome) -> assertThat(outcome.failure()).isInstanceOf(CollectiveMismatchException.class)
					.hasMessageContaining("count 10")
					.hasMessageContaining("count 11"));
		}
	}

	@Test
	void aRankThatEndsIsLostToTheOthersAtOnce() throws Exception {
		try (World world = world(3)) {
			List<Outcome<Void>> outcomes = RankThreads.outcomes(3, LIMIT, (rank) -> {
				float[] values = new float[100_000];
				world.group(rank).allReduce(values, ReduceOp.SUM);
				if (rank == 1) {
					world.group(rank).close();
					return null;
				}
				world.group(rank).allReduce(values, ReduceOp.SUM);
				return null;
			});
			for (int rank : new int[] { 0, 2 }) {
				assertThat(outcomes.get(rank).failure()).isInstanceOf(PeerLostException.class)
					.hasMessageContaining("rank 1");
			}
		}
	}

	@Test
	void aRenewedCertificateIsUsedByNewGroupsAndOldGroupsContinue() throws Exception {
		try (World world = world(2)) {
			sum(world);
			this.context.set(AUTHORITY.context(AUTHORITY.rank()));
			RankThreads.run(2, LIMIT, (rank) -> {
				try (ProcessGroup part = world.group(rank).split(0, rank)) {
					float[] values = { 1 };
					part.allReduce(values, ReduceOp.SUM);
					assertThat(values).containsExactly(2);
				}
				return null;
			});
			sum(world);
		}
	}

	@Test
	void anExpiredCertificateFormsNoNewGroup() throws Exception {
		try (World world = world(2)) {
			sum(world);
			this.context.set(AUTHORITY.context(AUTHORITY.issue(Duration.ofHours(-1), List.of(Authority.NAME))));
			List<Outcome<Void>> outcomes = RankThreads.outcomes(2, LIMIT, (rank) -> {
				try (ProcessGroup part = world.group(rank).split(0, rank)) {
					part.barrier();
				}
				return null;
			});
			assertThat(outcomes)
				.allSatisfy((outcome) -> assertThat(outcome.failure()).isInstanceOf(CollectiveException.class)
					.hasMessageContaining("its certificate is not trusted: it has expired"));
			sum(world);
		}
	}

	private static void sum(World world) throws Exception {
		RankThreads.run(2, LIMIT, (rank) -> {
			int[] value = { rank + 1 };
			world.group(rank).allReduce(MemorySegment.ofArray(value), DataType.INT32, ReduceOp.SUM);
			assertThat(value).containsExactly(3);
			return null;
		});
	}

}
