package io.tutti.engine.backend;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.tutti.BackendUnavailableException;
import io.tutti.Collective;
import io.tutti.CollectiveException;
import io.tutti.CollectiveListener;
import io.tutti.DataType;
import io.tutti.Failure;
import io.tutti.FreePort;
import io.tutti.MessageMismatchException;
import io.tutti.ProcessGroup;
import io.tutti.ReduceOp;
import io.tutti.engine.RankAssignment;
import io.tutti.engine.Timeouts;
import io.tutti.engine.backend.libmpi.LibMpiFailures;
import io.tutti.engine.backend.libmpi.MpiLibraryException;
import io.tutti.engine.backend.mpi.Mpi;
import io.tutti.engine.backend.mpi.MpiIoException;
import io.tutti.engine.backend.nccl.NcclException;
import io.tutti.engine.backend.nccl.ScriptedGpus;
import io.tutti.engine.control.RendezvousException;
import io.tutti.engine.device.DeviceException;
import io.tutti.engine.spi.ArgumentMismatchException;
import io.tutti.engine.spi.CallOrigin;
import io.tutti.engine.spi.GroupIdentity;
import io.tutti.engine.spi.GroupSetupException;
import io.tutti.engine.spi.GroupStateException;
import io.tutti.engine.spi.WithdrawnMessageException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

/**
 * Every exception for a failure holds the place of the failure as data, as far as it
 * exists there, also after it was sent to another process.
 */
@Timeout(60)
class FailureDataTest {

	private static final GroupIdentity SUBGROUP = new GroupIdentity("world/0.1", 1, List.of(4, 6), 8, 0, "", false);

	static Stream<Throwable> failuresOfRankSixOfEight() {
		RankAssignment assignment = new RankAssignment(6, 8, 0, 1, "host", 29500);
		return Stream.concat(
				Stream.of(Failure.Kind.values())
					.map((kind) -> SUBGROUP.exception(new Failure(kind, "world/0.1", 3, Collective.BROADCAST,
							List.of(4), "seen", Duration.ofMillis(5), Duration.ofMillis(9)), null)),
				Stream.of(LibMpiFailures.onRank(6, 8), ScriptedGpus.failureOn(6, 8),
						new RendezvousException(assignment, RendezvousException.Reason.TIMEOUT, "late", List.of(2, 3),
								null),
						new BackendUnavailableException("nccl", "no device", "Add one").onRank(6, 8),
						new DeviceException("cudaMalloc", 2, "out of memory").onRank(6, 8),
						new GroupSetupException(SUBGROUP, "no memory", new IOException("full")),
						new GroupStateException(CallOrigin.about(SUBGROUP, List.of(0)), "in use", null),
						new ArgumentMismatchException(CallOrigin.about(SUBGROUP, List.of(0)), "sizes differ"),
						new WithdrawnMessageException(SUBGROUP, 0, "send"),
						new MessageMismatchException(0, 9, DataType.INT32, 40,
								new MessageMismatchException.Receive(6, 8, "world/0.1", 4, DataType.INT32, 8))));
	}

	/** A subclass of {@link CollectiveException} belongs to each kind of failure. */
	@Test
	void everyExceptionThatHasAPlaceIsTestedHere() throws IOException {
		String tests = Files
			.readString(Path.of("src/test/java").resolve(getClass().getName().replace('.', '/') + ".java"));
		List<String> exceptions = new ArrayList<>();
		try (Stream<Path> sources = Files.walk(Path.of("src/main/java"))) {
			for (Path source : sources.filter((file) -> file.toString().endsWith("Exception.java")).toList()) {
				Matcher declared = Pattern.compile(
						"class (?!RankException)(\\w+)\\s+extends [^{]*(?:Failure\\.Origin|CallOrigin\\.Holder|\\bRankException)")
					.matcher(Files.readString(source));
				if (declared.find()) {
					exceptions.add(declared.group(1));
				}
			}
		}
		assertThat(exceptions).hasSizeGreaterThan(11).allSatisfy((name) -> assertThat(tests).contains(name));
	}

	@ParameterizedTest
	@MethodSource("failuresOfRankSixOfEight")
	void everyFailureCarriesItsRankAndStartsItsMessageWithIt(Throwable failure) throws Exception {
		assertThat(failure).hasMessageStartingWith("rank 6: ");
		for (Failure.Origin origin : List.of((Failure.Origin) failure, (Failure.Origin) copyOf(failure))) {
			assertThat(origin.rank()).isEqualTo(6);
			assertThat(origin.worldSize()).isEqualTo(8);
			switch (origin) {
				case CollectiveException ex -> {
					assertThat(ex.collective()).isEqualTo(Collective.BROADCAST);
					assertThat(ex.sequence()).isEqualTo(3);
					assertThat(ex.group()).isEqualTo("world/0.1");
					assertThat(ex.peers()).containsExactly(4);
				}
				case RendezvousException ex -> {
					assertThat(ex.peers()).containsExactly(2, 3);
					assertThat(ex.endpoint()).isEqualTo("host:29500");
				}
				case MessageMismatchException ex -> {
					assertThat(ex.group()).isEqualTo("world/0.1");
					assertThat(ex.peers()).containsExactly(4);
				}
				case MpiLibraryException ex -> {
					assertThat(ex.function()).isEqualTo("MPI_Allreduce");
					assertThat(ex.code()).isEqualTo(15);
				}
				case NcclException ex -> assertThat(ex.reason()).isEqualTo(NcclException.Reason.ERROR);
				case GroupSetupException ex -> assertThat(ex.group()).isEqualTo("world/0.1");
				case GroupStateException _, ArgumentMismatchException _, WithdrawnMessageException _ -> {
					assertThat(origin.group()).isEqualTo("world/0.1");
					assertThat(origin.peers()).containsExactly(4);
				}
				default -> {
					assertThat(origin.group()).isNull();
					assertThat(origin.collective()).isNull();
					assertThat(origin.sequence()).isEqualTo(-1);
				}
			}
		}
	}

	@Test
	void aRendezvousInVainCarriesTheMissingRanksAndTheAddress() {
		int port = FreePort.next();
		RendezvousException seen = catchThrowableOfType(RendezvousException.class,
				() -> Engine.join(RankAssignment.onOneHost(0, 3, port), brief(), CollectiveListener.NONE));
		assertThat(seen.rank()).isZero();
		assertThat(seen.worldSize()).isEqualTo(3);
		assertThat(seen.peers()).containsExactly(1, 2);
		assertThat(seen.endpoint()).endsWith(":" + port);
	}

	@Test
	void anUnknownBackendCarriesTheRank() {
		BackendUnavailableException seen = catchThrowableOfType(BackendUnavailableException.class,
				() -> Engine.join(RankAssignment.onOneHost(1, 3, FreePort.next()), brief().withBackend("gloo", null),
						CollectiveListener.NONE));
		assertThat(seen.rank()).isOne();
		assertThat(seen.worldSize()).isEqualTo(3);
	}

	@Test
	void aMissingLibraryCarriesTheRank() {
		BackendUnavailableException seen = catchThrowableOfType(BackendUnavailableException.class,
				() -> Engine.join(RankAssignment.onOneHost(1, 3, FreePort.next()),
						brief().withBackend("mpi", "/nonexistent/libmpi.so"), CollectiveListener.NONE));
		assertThat(seen).hasMessageStartingWith("rank 1: ").hasMessageContaining("/nonexistent/libmpi.so");
		assertThat(seen.worldSize()).isEqualTo(3);
	}

	@Test
	void anMpiAddressThatCannotBeUsedCarriesTheRank() {
		MpiIoException seen = catchThrowableOfType(MpiIoException.class,
				() -> Mpi.init(0, 2, "192.0.2.1:29500", "a token of some length"));
		assertThat(seen.rank()).isZero();
		assertThat(seen.worldSize()).isEqualTo(2);
		assertThat(seen.endpoint()).isEqualTo("192.0.2.1:29500");
	}

	@ParameterizedTest
	@EnumSource(TestedTransport.class)
	void aDeadlineCarriesGroupCollectiveAndSequence(TestedTransport transport) throws Exception {
		List<RankThreads.Outcome<Object>> outcomes;
		try (DepartureContract.DepartingWorld world = transport.world(2, Worlds.TIMEOUTS)) {
			outcomes = RankThreads.outcomes(2, Duration.ofSeconds(40), (rank) -> {
				ProcessGroup group = world.group(rank);
				group.barrier();
				if (rank == 1) {
					group.withTimeout(Duration.ofMillis(200)).allReduce(new int[1], ReduceOp.SUM);
				}
				else {
					group.receive(MemorySegment.ofArray(new int[1]), DataType.INT32, 1, 0);
				}
				return null;
			});
		}
		CollectiveException seen = (CollectiveException) outcomes.get(1).failure();
		assertThat(seen.rank()).isOne();
		assertThat(seen.worldSize()).isEqualTo(2);
		assertThat(seen.group()).isEqualTo("world");
		assertThat(seen.collective()).isEqualTo(Collective.ALL_REDUCE);
		assertThat(seen.sequence()).isEqualTo(1);
	}

	private static EngineSettings brief() {
		EngineSettings defaults = EngineSettings.DEFAULTS;
		return new EngineSettings(defaults.backend(), defaults.jobId(), null, -1, null, null, null, 0,
				defaults.congestionControl(), defaults.sharedConfig(), new Timeouts(Duration.ofMillis(300),
						Duration.ofSeconds(30), Duration.ofSeconds(30), Duration.ofSeconds(2), Duration.ofSeconds(5)),
				null);
	}

	private static Throwable copyOf(Throwable original) throws IOException, ClassNotFoundException {
		ByteArrayOutputStream bytes = new ByteArrayOutputStream();
		try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
			out.writeObject(original);
		}
		try (ObjectInputStream in = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
			return (Throwable) in.readObject();
		}
	}

}
