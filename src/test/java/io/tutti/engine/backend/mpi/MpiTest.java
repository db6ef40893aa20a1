package io.tutti.engine.backend.mpi;

import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import io.tutti.DataType;
import io.tutti.FreePort;
import io.tutti.OwnThread;
import io.tutti.ReduceOp;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.backend.RankThreads;
import io.tutti.engine.bootstrap.Endpoint;
import io.tutti.engine.control.RendezvousException;
import io.tutti.launch.standalone.MpiEnvironment;
import io.tutti.launch.ResolutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

@Timeout(60)
class MpiTest {

	@Test
	void aWorldOfOneIsValid() {
		try (Mpi mpi = Mpi.init(0, 1, "127.0.0.1:29500")) {
			assertThat(mpi.world().size()).isEqualTo(1);
			int[] values = { 4 };
			mpi.world().allReduce(values, 1, DataType.INT32, ReduceOp.SUM);
			assertThat(values).containsExactly(4);
			assertThat(mpi.world().group().backend()).isEqualTo("mpi");
		}
	}

	@Test
	void twoRanksJoinAtTheGivenAddress() throws Exception {
		String address = "127.0.0.1:" + FreePort.next();
		CompletableFuture<Integer> other = CompletableFuture.supplyAsync(() -> sumOf(1, address), OwnThread.EXECUTOR);
		assertThat(sumOf(0, address)).isEqualTo(1);
		assertThat(other.get(30, TimeUnit.SECONDS)).isEqualTo(1);
	}

	private static int sumOf(int rank, String address) {
		try (Mpi mpi = Mpi.init(rank, 2, address)) {
			int[] values = { rank };
			mpi.world().allReduce(values, 1, DataType.INT32, ReduceOp.SUM);
			mpi.world().barrier();
			return values[0];
		}
	}

	@Test
	void threeRanksBroadcastFromRankOneWithAToken() throws Exception {
		String address = "127.0.0.1:" + FreePort.next();
		List<Integer> values = RankThreads.run(3, Duration.ofSeconds(30), (rank) -> {
			try (Mpi mpi = Mpi.init(rank, 3, address, "secret")) {
				int[] value = { 10 * rank };
				mpi.world().bcast(value, 1, DataType.INT32, 1);
				mpi.world().barrier();
				return value[0];
			}
		});
		assertThat(values).containsExactly(10, 10, 10);
	}

	@Test
	void aRendezvousBeyondThisHostNeedsAToken() {
		assertThatIllegalArgumentException().isThrownBy(() -> Mpi.init(0, 2, "192.0.2.1:29500"))
			.withMessageContaining("192.0.2.1 is reachable from other hosts and no token is given");
		Map<String, String> ranks = Map.of("RANK", "0", "WORLD_SIZE", "2", "MASTER_ADDR", "192.0.2.1");
		assertThatIllegalArgumentException().isThrownBy(() -> MpiEnvironment.init(ranks))
			.withMessageContaining("Set tutti.security.token");
	}

	/** The rule of launchers that do not give the local rank. */
	@Test
	void ranksAreOnOneHostIfTheyMeetAtALoopbackAddressOrWithoutAToken() {
		assertThat(Mpi.assignment(1, 4, new Endpoint("node-a", 29500), "secret"))
			.isEqualTo(new RankAssignment(1, 4, 0, 1, "node-a", 29500));
		assertThat(Mpi.assignment(1, 4, new Endpoint("::1", 29500), "secret"))
			.isEqualTo(new RankAssignment(1, 4, 1, 4, "::1", 29500));
		assertThat(Mpi.assignment(1, 4, new Endpoint("node-a", 29500), null))
			.isEqualTo(new RankAssignment(1, 4, 1, 4, "node-a", 29500));
	}

	@Test
	void thePropertiesOfAProcessGroupApply() throws Exception {
		Map<String, String> environment = new HashMap<>(Map.of("RANK", "0", "WORLD_SIZE", "2", "MASTER_PORT",
				String.valueOf(FreePort.next()), "TUTTI_TIMEOUT_RENDEZVOUS", "300ms"));
		assertThatExceptionOfType(RendezvousException.class).isThrownBy(() -> MpiEnvironment.init(environment))
			.satisfies((ex) -> assertThat(ex.reason()).isEqualTo(RendezvousException.Reason.TIMEOUT));
		environment.putAll(Map.of("PMI_RANK", "1", "PMI_SIZE", "2", "TUTTI_LAUNCHER_ONCONFLICT", "fail"));
		assertThatExceptionOfType(ResolutionException.class).isThrownBy(() -> MpiEnvironment.init(environment));
	}

	@Test
	void exceptionsCarryTheInvalidRankOrSize() {
		assertThatExceptionOfType(InvalidWorldSizeException.class).isThrownBy(() -> Mpi.init(0, 0, "localhost"))
			.satisfies((ex) -> assertThat(ex.worldSize()).isZero());
		assertThatExceptionOfType(InvalidRankException.class).isThrownBy(() -> Mpi.init(2, 2, "localhost"))
			.withMessage("rank must be in 0..1, got 2")
			.satisfies((ex) -> assertThat(ex.rank()).isEqualTo(2))
			.satisfies((ex) -> assertThat(ex.size()).isEqualTo(2));
	}

	@Test
	void anAddressInUseIsAnIoErrorThatNamesIt() throws Exception {
		try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
			String address = "127.0.0.1:" + taken.getLocalPort();
			assertThatExceptionOfType(MpiIoException.class).isThrownBy(() -> Mpi.init(0, 2, address))
				.satisfies((ex) -> assertThat(ex.endpoint()).isEqualTo(address))
				.havingCause();
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "", " ", ":29500", "host:", "host:0", "host:65536", "host:x", "::1", "[::1", "::1]:5" })
	void aMalformedAddressIsRejected(String text) {
		assertThatIllegalArgumentException().isThrownBy(() -> Mpi.init(0, 1, text, null))
			.withMessageContaining("host:port");
	}

	@Test
	void openMpiVariablesTakePrecedenceOverOtherLaunchers() {
		Map<String, String> environment = Map.of("OMPI_COMM_WORLD_RANK", "0", "OMPI_COMM_WORLD_SIZE", "1", "PMI_RANK",
				"3", "PMI_SIZE", "4", "RANK", "1", "WORLD_SIZE", "2");
		try (Mpi mpi = MpiEnvironment.init(environment)) {
			assertThat(mpi.world().size()).isEqualTo(1);
		}
		assertThatExceptionOfType(ResolutionException.class)
			.isThrownBy(() -> MpiEnvironment.init(Map.of("PMI_RANK", "0", "RANK", "0", "WORLD_SIZE", "1")))
			.withMessageContaining("PMI_SIZE");
		assertThatExceptionOfType(ResolutionException.class)
			.isThrownBy(() -> MpiEnvironment.init(
					Map.of("OMPI_COMM_WORLD_RANK", "x", "OMPI_COMM_WORLD_SIZE", "1", "PMI_RANK", "0", "PMI_SIZE", "1")))
			.withMessageContaining("OMPI_COMM_WORLD_RANK");
	}

	@Test
	void unavailabilityHasAReason() {
		assertThat(Mpi.isAvailable(Mpi.settings(null))).isTrue();
		assertThat(Mpi.isAvailable(Mpi.settings("/no/libmpi.so"))).isFalse();
		assertThat(Mpi.availability(Mpi.settings("/no/libmpi.so")).reason()).contains("/no/libmpi.so");
	}

}
